"""Descriptions of tasks: what makes two of them one kind, and what makes look-alikes different."""

from __future__ import annotations

import pytest

from hindsight.language.situation import LONGEST, differences, read

OTHER = [
    # Another format.
    ("把 PDF 文件转换为 Markdown", "把 Word 文档转换为 Markdown", "format"),
    ("将 Excel 表格导入系统", "将 CSV 表格导入系统", "format"),
    ("压缩 PNG 图片", "压缩 JPEG 图片", "format"),
    ("读取 report.json 并汇总", "读取 report.xml 并汇总", "format"),
    ("把 MP4 视频转成 GIF", "把 MP4 视频转成 WebM", "format"),
    ("合并多个 pdf 文件", "合并多个 pptx 文件", "format"),
    ("convert a PDF to Markdown", "convert a Word document to Markdown", "format"),
    ("parse the YAML settings", "parse the TOML settings", "format"),
    ("load users.csv into the table", "load users.parquet into the table", "format"),
    ("make thumbnails of PNG images", "make thumbnails of SVG images", "format"),
    ("unpack the zip archive", "unpack the rar archive", "format"),
    ("transcribe an MP3 recording", "transcribe an M4A recording", "format"),
    # The other way round.
    ("把 PDF 转成 Markdown", "把 Markdown 转成 PDF", "format"),
    ("CSV 转 Excel", "Excel 转 CSV", "format"),
    ("convert JSON to YAML", "convert YAML to JSON", "format"),
    ("get HTML from Markdown", "get Markdown from HTML", "format"),
    # Another system.
    ("在飞书上创建审批流程", "在钉钉上创建审批流程", "system"),
    ("MySQL 主从同步延迟", "PostgreSQL 主从同步延迟", "system"),
    ("把服务部署到阿里云", "把服务部署到腾讯云", "system"),
    ("在淘宝店铺修改商品价格", "在京东店铺修改商品价格", "system"),
    ("在微博发布公告", "在知乎发布公告", "system"),
    ("npm 安装依赖报错", "pip 安装依赖报错", "system"),
    ("open a merge request on GitLab", "open a merge request on GitHub", "system"),
    ("post the report in Slack", "post the report in Teams", "system"),
    ("the Jenkins build fails on checkout", "the CircleCI build fails on checkout", "system"),
    ("reload the nginx settings", "reload the Apache settings", "system"),
    ("install the driver on Windows", "install the driver on macOS", "system"),
    ("deploy the site to Vercel", "deploy the site to Netlify", "system"),
    # Another tool.
    ("用 ffmpeg 压缩视频", "用 handbrake 压缩视频", "tool"),
    ("使用 selenium 登录网站", "使用 playwright 登录网站", "tool"),
    ("通过 rsync 同步目录", "通过 scp 同步目录", "tool"),
    ("crop the video using ffmpeg", "crop the video using handbrake", "tool"),
    ("fetch the page via curl", "fetch the page via wget", "tool"),
    ("log in using Selenium", "log in using Playwright", "tool"),
    # The opposite goal.
    ("安装显卡驱动", "卸载显卡驱动", "goal"),
    ("启用双因素登录", "停用双因素登录", "goal"),
    ("加密备份文件", "解密备份文件", "goal"),
    ("导出通讯录", "导入通讯录", "goal"),
    ("批准请假申请", "驳回请假申请", "goal"),
    ("install the browser extension", "uninstall the browser extension", "goal"),
    ("enabling two-factor login", "disabling two-factor login", "goal"),
    ("encrypt the archive", "decrypt the archive", "goal"),
    ("upload the photos", "download the photos", "goal"),
    ("approve the expense", "reject the expense", "goal"),
    ("subscribe to the newsletter", "unsubscribe from the newsletter", "goal"),
]

SAME = [
    ("把 PDF 文件转换为 Markdown", "将一份 pdf 转成 md"),
    ("PDF 转 Markdown", "从 PDF 得到 Markdown"),
    ("convert a PDF to Markdown", "turn this pdf into md"),
    ("get Markdown from a PDF", "make Markdown out of a PDF"),
    ("读取 a.docx", "读取 Word 文档"),
    ("k8s 集群扩容", "Kubernetes 集群扩容"),
    ("postgres is slow", "PostgreSQL is slow"),
    ("在飞书发通知", "用 Lark 发通知"),
    ("PDF 太大", "压缩 PDF 并另存为图片"),  # one of the two names no second format
    ("导入 CSV", "导出 PDF 后导入 CSV"),  # both sides of a pair stand in the one
    ("how many words of each report", "how many pages of the pdf"),  # «word» is not Word here
    ("the excel of a good teacher", "open the csv"),
    ("raise the price by 5", "lower the price by 5"),  # the direction of a number is no goal
    ("写一封邮件", "写一封信"),
]


@pytest.mark.parametrize(("one", "other", "what"), OTHER)
def test_another_format_system_tool_or_goal_makes_another_task(one: str, other: str, what: str) -> None:
    assert what in differences(read(one), read(other))
    assert what in differences(read(other), read(one))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_for_the_same_do_not(one: str, other: str) -> None:
    assert differences(read(one), read(other)) == ()
    assert differences(read(other), read(one)) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cancel order #W4836353", "Cancel order #W7109609"),
        ("Set the status to 'Busy'", "Set the status to 'Away'"),
        ("Open /etc/hosts for editing", "Open /var/log/app.log for editing"),
        ("Ask for help in Berlin", "Ask for help in Madrid"),
        ("Raise it by 10%", "Raise it by $11.5"),
        ("Look at https://a.example.com/x", "Look at https://b.example.org/y"),
        ("回复《三体》的评论", "回复《活着》的评论"),
        ("把订单 A1024 退款", "把订单 B2048 退款"),
        ("提醒“小王”交报告", "提醒“小李”交报告"),
        ("预算 300 元以内", "预算 1,500 元以内"),
    ],
)
def test_what_fills_a_description_is_no_part_of_its_frame(one: str, other: str) -> None:
    assert read(one).frame == read(other).frame
    assert read(one).operations == read(other).operations
    assert read(one).names != read(other).names or "元" in one or "%" in one


def test_operations_have_one_name_in_both_languages() -> None:
    assert {"more", "mean", "order", "down"} <= read("大于平均值的，按降序排序").operations
    assert {"more", "mean", "order", "down"} <= read("above the average, sorted in descending order").operations


def test_how_often_an_operation_occurs_is_told() -> None:
    once, twice = read("above the average"), read("above the average, below the average")
    assert "mean=1" in once.operations
    assert "mean=2" in twice.operations


@pytest.mark.parametrize("text", ["", " ", "!!!", "\U0001f600", "a" * (LONGEST + 5_000), "[" * 3_000, "'" * 3_000])
def test_any_text_can_be_read(text: str) -> None:
    assert differences(read(text), read(text)) == ()


@pytest.mark.parametrize("part", ["a.", "a-", "a1-_", "/a", "'a ", "{a", "#@", "把转成", "using "])
def test_reading_takes_steps_in_proportion_to_the_text(part: str) -> None:
    # What backtracks without bound would take minutes for this.
    assert len(read(part * (LONGEST // len(part))).frame) < 10
