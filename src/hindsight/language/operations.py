"""What is done, compared, counted and ordered in a description of a task: words of an operation under one name.

Tasks of one kind share these words, whatever they are about: «the ten cheapest», «no more than 5», «create», «per
team». English and Chinese words of one operation have the same name, so that descriptions in either can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

# Each line: the name of an operation, and words for it.
_WORDS = """
    more: more greater higher longer larger bigger older later newer above over exceed exceeds exceeding exceeded
    more: beyond heavier taller faster
    more: 大于 超过 高于 多于 以上 晚于 超出 不少于 至少
    less: less lower fewer shorter smaller younger earlier below under cheaper lighter slower
    less: 小于 低于 少于 以下 不足 早于 不超过 至多 最多不超过
    most: most maximum max highest largest biggest longest greatest latest newest top best oldest
    most: 最大 最高 最多 最长 最新 最晚 最好 最热门 前几
    least: least minimum min lowest smallest shortest fewest earliest cheapest worst bottom youngest
    least: 最小 最低 最少 最短 最早 最便宜 最差
    mean: average averages averaged averaging mean median
    mean: 平均 均值 中位数
    sum: total totals sum sums overall altogether count counts counted number amount
    sum: 总共 总数 总和 总计 合计 一共 数量 个数 总量 总额 统计 计数
    each: each per every individual respective respectively corresponding
    each: 每个 每一 每条 每种 每位 各个 各自 分别 逐个 逐一 对应
    order: order ordered ordering sort sorted sorting rank ranked ranking arrange arranged
    order: 排序 排列 排名 顺序 次序
    up: ascending increasing alphabetical alphabetically
    up: 升序 递增 从小到大 从低到高 从早到晚
    down: descending decreasing
    down: 降序 递减 从大到小 从高到低 从晚到早
    cut: limit limited limiting skip skipping offset only first
    cut: 限制 只要 仅 只取 前 跳过
    group: group groups grouped grouping combination combinations category categories by
    group: 分组 按照 按 类别 分类 组合
    choice: or either
    choice: 或者 或是 或 要么 任一
    both: both and
    both: 并且 以及 同时 且 和 与 并
    not: not no without never except excluding other don't doesn't didn't
    not: 不 没有 没 无 未 别 除了 排除 不要
    make: create creates add adds added insert inserts new make build generate
    make: 创建 新建 建立 添加 新增 增加 插入 生成 制作 搭建
    drop: delete deletes deleted remove removes removed drop erase clear cancel discard
    drop: 删除 移除 清除 清空 取消 去掉 撤销 丢弃
    change: update updates updated change changes changed modify modifies modified edit set increase decrease reduce
    change: adjust replace rename
    change: 更新 修改 更改 变更 改为 改成 编辑 设置 调整 替换 重命名 提高 降低
    ask: what which who where when how show list display tell find get give see lookup look return report
    ask: 查询 查找 查看 列出 显示 告诉 获取 找出 找到 搜索 返回 什么 哪些 哪个 谁 多少 如何
    ask: 怎么
    if: if whose that unless provided
    if: 如果 若 当 其中 满足 条件
    time: before after since until between during
    time: 之前 之后 以前 以后 期间 之间 自从 直到
    move: move copy transfer send upload download export import
    move: 移动 复制 拷贝 转移 发送 上传 下载 导出 导入 迁移
    check: check verify test confirm ensure validate
    check: 检查 验证 测试 确认 确保 校验 核对
    convert: convert converts converted converting conversion transform turn translate
    convert: 转换 转为 转成 转化 转 翻译 变成
    repair: fix fixes fixed repair resolve solve debug troubleshoot
    repair: 修复 解决 修理 排查 调试 处理
    run: run start execute launch deploy install configure
    run: 运行 启动 执行 部署 安装 配置
"""
_CHINESE = re.compile("[一-鿿]")
OPERATION_OF: Mapping[str, str] = MappingProxyType(
    {
        word: name
        for line in _WORDS.strip().splitlines()
        for name, _, words in [line.strip().partition(": ")]
        for word in words.split()
    }
)
CHINESE_WORDS = re.compile("|".join(sorted(filter(_CHINESE.match, OPERATION_OF), key=len, reverse=True)))

# Whoever wants the one is not helped by how the other was done. A direction in which a quantity is changed is no goal
# of its own: «raise the price» and «lower the price» differ by a number.
_OPPOSITES = (
    ("install 安装", "uninstall 卸载"),
    ("start launch 启动 开启", "stop shutdown kill terminate 停止 关停 终止 停掉"),
    ("enable activate 启用 激活", "disable deactivate 禁用 停用"),
    ("encrypt 加密", "decrypt 解密"),
    ("compress zip 压缩 打包", "decompress extract unzip unpack 解压 解压缩 解包"),
    ("import 导入", "export 导出"),
    ("upload 上传", "download 下载"),
    ("encode 编码", "decode 解码"),
    ("lock 锁定 加锁", "unlock 解锁"),
    ("push 推送", "pull 拉取"),
    ("upgrade 升级", "downgrade 降级"),
    ("merge join combine 合并 拼接", "split separate 拆分 分割 切分"),
    ("backup 备份", "restore recover 恢复 还原"),
    ("create add insert 创建 新建 添加 新增", "delete remove drop 删除 移除 删掉"),
    ("login 登录", "logout 登出 退出登录 注销"),
    ("subscribe 订阅", "unsubscribe 退订 取消订阅"),
    ("publish 发布 上线 上架", "unpublish withdraw retract 撤回 下线 下架"),
    ("buy purchase 购买 买入", "sell 出售 卖出"),
    ("mount 挂载", "unmount umount 卸载盘"),
    ("send 发送", "receive 接收 收取"),
    ("approve accept 批准 同意 通过审批", "reject deny decline 拒绝 驳回"),
    ("grant 授予 授权", "revoke 收回 撤销授权"),
    ("show unhide 显示", "hide 隐藏"),
    ("follow 关注", "unfollow 取消关注 取关"),
    ("commit 提交", "revert rollback undo 回滚 回退 撤销提交"),
    ("read 读取", "write 写入"),
    ("serialize 序列化", "deserialize 反序列化"),
)
_SIDE_OF: dict[str, list[tuple[int, bool]]] = {}
for _pair, _sides in enumerate(_OPPOSITES):
    for _second, _side in enumerate(_sides):
        for _word in _side.split():
            _SIDE_OF.setdefault(_word, []).append((_pair, bool(_second)))
_SIDES_ZH = re.compile("|".join(sorted(filter(_CHINESE.match, _SIDE_OF), key=len, reverse=True)))
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_ROOTS = {_ENDING.sub("", word): word for word in _SIDE_OF if word.isascii()}


def sides(words: Iterable[str], text: str) -> frozenset[tuple[int, bool]]:
    """The sides of pairs of opposites that a description stands on. `words`: its Latin words in lower case."""
    found = [word if word in _SIDE_OF else _ROOTS.get(_ENDING.sub("", word), "") for word in words]
    found += _SIDES_ZH.findall(text)
    return frozenset(side for word in found for side in _SIDE_OF.get(word, ()))
