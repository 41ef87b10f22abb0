"""File formats and well-known systems by name: how something is done in one does not tell how in another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

# Names of one format stand together; the first is what it is called here.
_FORMATS = """
    pdf
    word doc docx word文档
    excel xls xlsx excel表格 电子表格
    powerpoint ppt pptx 幻灯片
    csv | tsv | json | jsonl ndjson | xml | yaml yml | toml | ini | sql
    html htm | markdown md | txt plaintext 纯文本 | latex tex | rtf | odt | epub | mobi
    png | jpg jpeg | gif | svg | webp | bmp | tiff tif | heic | ico | psd
    mp3 | wav | flac | aac | ogg | m4a | mp4 | avi | mov | mkv | webm | srt
    zip | rar | 7z | tar | gz gzip | tgz | parquet | avro | protobuf | ipynb | eml | ics | vcf
"""
# Systems of one kind stand on one line, each under its names joined by `=`: who names one does not mean another.
_SYSTEMS = """
    github gitlab gitee bitbucket gerrit
    jira trello asana linear redmine 禅道 tapd
    slack teams discord telegram whatsapp 飞书=lark=feishu 钉钉=dingtalk 企业微信=wecom 微信=wechat
    notion confluence 语雀=yuque obsidian evernote onenote 石墨 腾讯文档
    mysql postgresql=postgres sqlite oracle mssql=sqlserver mongodb=mongo mariadb clickhouse
    redis memcached
    kafka rabbitmq rocketmq pulsar
    elasticsearch opensearch solr meilisearch
    docker podman containerd
    kubernetes=k8s swarm nomad
    aws azure gcp 阿里云=aliyun 腾讯云 华为云 digitalocean
    vercel netlify heroku cloudflare
    npm yarn pnpm bun pip conda poetry uv pipenv apt yum dnf pacman brew=homebrew apk maven gradle cargo
    windows macos linux
    ubuntu debian centos fedora alpine
    android ios 鸿蒙=harmonyos
    chrome firefox safari edge
    nginx apache caddy traefik iis
    jenkins circleci travis argocd
    terraform pulumi ansible puppet chef
    react vue angular svelte
    django flask fastapi tornado
    tensorflow pytorch jax paddle=paddlepaddle
    pandas polars
    pytest unittest jest mocha junit
    gmail outlook 163邮箱 qq邮箱
    淘宝=taobao 京东=jd 拼多多 天猫=tmall 亚马逊=amazon ebay shopify
    微博=weibo 知乎=zhihu 小红书 抖音=tiktok bilibili=b站 twitter reddit facebook instagram linkedin youtube
    支付宝=alipay paypal stripe 微信支付
    携程 飞猪 booking airbnb expedia
    高德=高德地图 百度地图 googlemaps openstreetmap
    python java javascript=js typescript=ts golang rust c++ c# php ruby kotlin swift scala
    bash zsh powershell
    vim emacs vscode pycharm intellij
    figma sketch photoshop illustrator gimp
    salesforce hubspot zendesk
    grafana kibana datadog prometheus
"""


def _formats() -> dict[str, str]:
    known: dict[str, str] = {}
    for line in _FORMATS.strip().splitlines():
        for names in line.split("|"):
            first, *others = names.split()
            known |= dict.fromkeys((first, *others), first)
    return known


def _systems() -> dict[str, tuple[str, int]]:
    known: dict[str, tuple[str, int]] = {}
    for family, line in enumerate(_SYSTEMS.strip().splitlines()):
        for one in line.split():
            names = one.split("=")
            known |= dict.fromkeys(names, (names[0], family))
    return known


FORMATS: Mapping[str, str] = MappingProxyType(_formats())
"""What a format is called, by each of its names."""
SYSTEMS: Mapping[str, tuple[str, int]] = MappingProxyType(_systems())
"""What a system is called, and the number of its kind, by each of its names."""
_CHINESE = re.compile("[一-鿿]")
CHINESE_NAMES = re.compile("|".join(sorted(filter(_CHINESE.search, (*FORMATS, *SYSTEMS)), key=len, reverse=True)))
