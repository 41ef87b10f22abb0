"""The Chinese predicates that are understood."""

from __future__ import annotations

import re

from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot
from hindsight.write.extract.clause import Pattern

# A person of the speaker's, and the one word that statements about them share in both languages.
KIN = {
    "妻子": "wife", "老婆": "wife", "太太": "wife", "媳妇": "wife", "爱人": "partner", "丈夫": "husband",
    "老公": "husband",
    "先生": "husband", "对象": "partner", "儿子": "son", "女儿": "daughter", "闺女": "daughter", "孩子": "child",
    "宝宝": "baby", "妈妈": "mother", "母亲": "mother", "妈": "mother", "老妈": "mother", "爸爸": "father",
    "父亲": "father", "爸": "father", "老爸": "father", "哥哥": "elder brother", "哥": "elder brother",
    "弟弟": "younger brother", "姐姐": "elder sister", "姐": "elder "
        "sister", "妹妹": "younger sister", "爷爷": "grandfather",
    "奶奶": "grandmother", "外公": "grandfather", "外婆": "grandmother", "姥姥": "grandmother", "姥爷": "grandfather",
    "男朋友": "boyfriend", "男友": "boyfriend", "女朋友": "girlfriend", "女友": "girlfriend", "未婚妻": "fiancée",
    "未婚夫": "fiancé", "室友": "roommate", "老板": "boss", "上司": "boss", "领导": "boss", "同事": "colleague",
    "同学": "classmate", "闺蜜": "best friend", "朋友": "friend", "邻居": "neighbour", "导师": "mentor",
    "老师": "teacher",
    "表哥": "cousin", "表弟": "cousin", "表姐": "cousin", "表妹": "cousin", "堂哥": "cousin", "堂弟": "cousin",
    "堂姐": "cousin", "堂妹": "cousin", "叔叔": "uncle", "舅舅": "uncle", "姑姑": "aunt", "阿姨": "aunt",
    "侄子": "nephew",
    "侄女": "niece", "外甥": "nephew", "岳父": "father-in-law", "岳母": "mother-in-law", "公公": "father-in-law",
    "婆婆": "mother-in-law", "父母": "parents", "爸妈": "parents", "孙子": "grandson", "孙女": "granddaughter",
}  # fmt: skip
# The hundred surnames that nine of ten people have.
SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
KIN_FORM = "|".join(sorted(KIN, key=len, reverse=True))
ANIMALS = (
    "猫|狗|犬|兔|仓鼠|鹦鹉|乌龟|金鱼|金毛|柯基|泰迪|柴犬|布偶|哈士奇|拉布拉多|边牧|英短|美短|豚鼠|龙猫|蜥蜴|宠物|"
    "萨摩耶|"
    "比熊|锦鲤|守宫"
)
_ILLNESS = (
    "糖尿病|高血压|低血压|低血糖|哮喘|心脏病|冠心病|痛风|癫痫|胃病|胃溃疡|胃炎|肾病|肝病|乙肝|贫血|甲亢|甲减|抑郁症|"
    "焦虑症|"
    "鼻炎|湿疹|乳糖不耐受|乳糖不耐症|麸质不耐受|蚕豆病|偏头痛|关节炎|恐高症|幽闭恐惧症|高血脂|脂肪肝|腰椎间盘突出|"
    "颈椎病|失眠症?|过敏体质|近视|荨麻疹|白血病|癌|肺炎|结石|肿瘤|强迫症|躁郁症|多动症|自闭症"
)
_MEDICINE = (
    "二甲双胍|胰岛素|阿司匹林|华法林|布洛芬|他汀|降压药|降糖药|抗抑郁药|安眠药|褪黑素|避孕药|抗生素|头孢|阿莫西林|中药|"
    "硝苯地平|氨氯地平|奥美拉唑|优甲乐|叶酸|维生素\\w?|鱼油|钙片"
)
_TRADE = (
    "工程师|程序员|医生|护士|老师|教师|教授|律师|会计师?|设计师|产品经理|项目经理|经理|学生|研究生|博士生|大学生|记者|"
    "编辑|作家|翻译|厨师|司机|警察|公务员|销售|顾问|研究员|科学家|架构师|分析师|摄影师|画家|演员|歌手|运动员|教练|"
    "自由职业者?|创业者|药剂师|飞行员|建筑师|运维|测试|客服|主管|总监|店长|农民|军人|导游|牙医|兽医|电工|焊工|理发师|"
    "咖啡师|主播|博主|保安|快递员|外卖员|全职妈妈|退休教师|退休工人|插画师|策划|出纳|审计|文员|助理|秘书|院长|校长|"
    "技术员|技师|裁缝|调酒师|瑜伽老师|心理咨询师"
)
_CITY = (
    "北京|上海|广州|深圳|杭州|南京|成都|重庆|武汉|西安|苏州|天津|长沙|郑州|青岛|厦门|大连|宁波|沈阳|济南|合肥|福州|"
    "昆明|"
    "香港|台北|澳门|海口|三亚|哈尔滨|长春|石家庄|太原|南昌|贵阳|南宁|兰州|无锡|佛山|东莞|珠海|东京|大阪|首尔|新加坡|"
    "伦敦|巴黎|柏林|纽约|旧金山|洛杉矶|悉尼|墨尔本|多伦多|温哥华"
)
_LANGUAGES = (
    "英语|英文|日语|法语|德语|西班牙语|韩语|俄语|意大利语|葡萄牙语|粤语|普通话|中文|阿拉伯语|泰语|越南语|"
    "手语|四川话|上海话|闽南语|客家话"
)
_THINGS = (
    "车|特斯拉|电动车|摩托车?|自行车|山地车|手机|苹果手机|华为|小米|iPhone ?\\w*|iPad|MacBook ?\\w*|笔记本(?:电脑)?|"
    "电脑|"
    "相机|单反|微单|无人机|吉他|钢琴|小提琴|古筝|二胡|房子|公寓|耳机|手表|键盘|显示器|平板|音箱|打印机|"
    "咖啡机|跑步机|望远镜|帐篷|Switch|PS5|Kindle|驾照|护照|健身卡|公众号|网店|店铺|书房|阳台|花园|菜园"
)
_DAY = (
    "今天|今早|今晚|明天|明早|明晚|后天|大后天|昨天|昨晚|前天|前晚|大前天|刚才|刚刚|最近|近期|今年|明年|去年|前年|后年|"
    "(?:这|本|上|上上|下|下下)(?:个)?(?:周末?|星期|礼拜|月|季度|学期)(?:[一二三四五六日天末])?|(?:周|星期|"
    "礼拜)[一二三四五六日天末]|"
    "(?:\\d{2,4}|[一二三四五六七八九〇零]{2,4})年(?:\\d{1,2}月|"
    "[一二三四五六七八九十]{1,3}月)?(?:\\d{1,2}[日号])?(?:底|初)?|"
    "(?:\\d{1,2}|[一二三四五六七八九十]{1,3})月(?:(?:\\d{1,2}|[一二三四五六七八九十]{1,3})[日号]|份|初|底|中旬)?|"
    "\\d{1,2}[日号]|"
    "(?:[一二两三四五六七八九十几半]|\\d+)(?:个)?(?:天|周|星期|礼拜|月|年|小时|分钟)(?:前|之前|以前|后|之后|以后)|"
    "春节|国庆(?:节|假期)?|五一|中秋|元旦|端午|清明|寒假|暑假|周末|过年|月底|年底|月初|年初|"
    "\\d{4}-\\d{1,2}-\\d{1,2}"
)
_HOUR = (
    "早上|上午|中午|下午|傍晚|晚上|凌晨|夜里|半夜|清晨|(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})点(?:半|钟|一刻|"
    "\\d{1,2}分?)?|"
    "\\d{1,2}[:：]\\d{2}"
)
WHEN = f"(?:(?:{_DAY})(?:的)?(?:{_HOUR})*|(?:{_HOUR})+)(?:左右)?"
OFTEN = (
    "(?:每(?:天|晚|周|个?月|年|个?周末|个?星期|"
    "逢)?(?:[一二三四五六日天末](?:和[周星期]*[一二三四五六日天])?)?(?:早上|早晨|早|上午|中午|下午|晚上|晚)?(?:都)?|"
    "(?:每|一)(?:天|周|个?月|年)(?:[一二两三四五六七八九十几]|\\d+)次|经常|常常|平时|通常|一般|习惯|总是|定期|天天|"
    "(?:周末|早上|晚上|睡前|饭后|下班后)(?:都|会|常|一般|通常))"
)
_NOT_A_THING = (
    "(?!.{0,10}[这那])(?!你|您|他|她|它|这|那|此|的|了|过|上了|就|吗|什么|怎么|看到|听到|跟您|和您|和你|跟你|大家|"
    "自己$)"
)
_COUNT = r"(?:[一两二三四五六七八九十几\d]+)?(?:只|条|个|头|匹|群|缸|窝)?"
_PLANNED = (
    "去|飞|出差|开会|搬|面试|考试|考|参加|上班|入职|回|见|做|交|提交|结婚|手术|体检|复查|看病|看牙|旅行|旅游|出国|"
    "拜访|汇报|签约|发布|上线|坐|乘|到|约|带|陪|接|送|拿|取|买|请假|休假|值班|加班|比赛|演出|聚餐|吃饭|上课|开学|毕业|"
    "答辩|交房|装修|报名|预约|跑"
)


def _pattern(slot: Slot, kind: Kind, form: str, *, bare: bool = False, of_others: bool = False) -> Pattern:
    return Pattern(slot, kind, re.compile(form), bare=bare, of_others=of_others)


_FACT, _CONSTRAINT, _PREFERENCE, _EVENT = Kind.FACT, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.EVENT

STATES: tuple[Pattern, ...] = (
    _pattern(Slot.HEALTH, _CONSTRAINT,
             r"(?P<no>不)?对(?P<value>[^，。这那此]{1,16}?)(?:严重|重度|轻微|轻度|有点|有些|也|都|会|不|"
             r"从来)*过敏(?:了)?", bare=True, of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT,
             rf"(?P<no>没)?(?:有|患有|得了|患了|患上了?|患|被?确诊了?|确诊为|被查出(?:了|有)?|"
             rf"查出了?)(?:了)?(?P<value>.{{0,6}}?(?:{_ILLNESS}).{{0,6}})", bare=True,
             of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT, r"(?:是)?(?P<value>(?:乳糖|麸质|酒精)不耐受?|怀孕(?:了|.{1,6})?|色盲|色弱|"
             r"恐高|晕车|晕船|酒精过敏|青霉素过敏|"
             r"(?:[AB]|AB|O)型血|过敏体质)", bare=True, of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT, r"(?P<value>.{1,10}(?:骨折|做过手术|动过手术|搭过支架|"
             r"装了起搏器)(?:了)?)", of_others=True),
    _pattern(Slot.MEDICATION, _CONSTRAINT, rf"(?P<no>不能)?(?:在|正在|需要|要|得)?(?:长期|每天|定期|一直)*(?:吃|服用|"
             rf"服|注射|打|用)着?(?P<value>.{{0,6}}?(?:{_MEDICINE}).{{0,10}})",
             of_others=True),
    _pattern(Slot.DIET, _CONSTRAINT, r"(?:是(?:一个|个|一名)?|坚持)?(?P<value>(?:纯)?(?:素食主义者|素食者|素食|吃素|"
             r"吃全素|清真饮食|纯素|蛋奶素))", bare=True,
             of_others=True),
    _pattern(Slot.DIET, _CONSTRAINT, rf"(?P<no>不能|不可以|不吃|不喝|从不吃|从不喝|从来不吃|从来不喝|忌|戒了?|不再吃|"
             rf"不再喝|不碰)(?:再)?(?:吃|喝|碰)?{_NOT_A_THING}"
             r"(?!药|早饭|早餐|午饭|晚饭|饭|亏|消|苦|了|下|透|准)(?P<value>[^，。]{1,14})", bare=True, of_others=True),
    _pattern(Slot.DIET, _CONSTRAINT, r"(?:要|需要|得|在|正在)(?:控制|忌)(?P<value>糖|盐|油|碳水|饮食|体重|"
             r"热量摄入)(?:摄入)?", of_others=True),
    _pattern(Slot.RESIDENCE, _FACT, r"(?P<no>不)?(?:住在|住|定居在|定居于|定居|居住在|居住于|搬到了?|搬去了?|"
             r"搬家到了?|搬进了?|家住)(?P<value>(?!了|得|着|的|不|"
             r"宿舍楼下|院|进|酒店|在|一起|一晚|几天|两天|这|那|你|您|您家|你家)[^了着过的这那]{2,24}?)(?:了|"
             r"的)?", of_others=True),
    _pattern(Slot.RESIDENCE, _FACT, rf"(?:家|人)?在(?P<value>(?:{_CITY})(?:市)?"
             r"(?:[^的工上出开做读旅玩当办等陪采打拍见考吃转探买看参，]{0,8}[区县市镇街路里])?)(?:生活|定居|住|居住)?",
             of_others=True),
    _pattern(Slot.ORIGIN, _FACT, r"(?:老家在|老家是|出生在|出生于|来自|"
             r"是(?=[^是这那个]{2,6}人$))(?P<value>[^的这那]{2,16})", of_others=True),
    _pattern(Slot.JOB, _FACT, r"(?P<no>不)?(?:在|就职于|任职于|供职于)(?P<value>[^在的家这那]{2,20}?)(?:工作|上班|"
             r"任职|当.{2,10}|做.{2,10}(?<!手术)(?<!检查)|实习|教书)(?:了)?",
             of_others=True),
    _pattern(Slot.JOB, _FACT, r"(?:就职于|任职于|供职于|入职了?|跳槽到了?|"
             r"加入了)(?P<value>[^这那]{2,20})", of_others=True),
    _pattern(Slot.JOB, _FACT, r"(?:从)?(?P<no>离开了?|(?<=从).{0})(?P<value>[A-Za-z\u4e00-\u9fff]{2,12}(?:公司|集团|"
             r"科技|银行|学校|医院|大学))(?:离职|辞职)?(?:了)?", of_others=True),
    _pattern(Slot.JOB, _FACT, rf"(?P<no>不)?(?:是|当|做|职业是|工作是|从事|担任)(?:一名|一位|一个|个|名|"
             rf"位)?(?P<value>[^这那你您我他她的，]{{0,8}}(?:的)?[^这那你您我他她的，]{{0,6}}(?:{_TRADE}))",
             of_others=True),
    _pattern(Slot.JOB, _FACT, r"(?:自己)?(?:经营|开)(?:着|了)?(?P<value>(?:一家|一间|一个|个|家|间).{1,14}(?:店|公司|"
             r"工作室|餐厅|诊所|民宿|网店|咖啡馆|茶馆))", of_others=True),
    _pattern(Slot.JOB, _FACT, r"(?:做|从事)(?P<value>[^这那你您我他她的，了]{2,8})(?:工作|行业|的)", of_others=True),
    _pattern(Slot.EDUCATION, _FACT, r"(?:毕业于|就读于|考上了?|在)(?P<value>[^在的这那]{2,14}?(?:大学|学院|中学|小学|"
             r"高中|幼儿园|MIT|清华|北大|复旦|浙大))"
             r"(?:读.{0,10}|上学|念.{0,8}|学习.{0,8})?", of_others=True),
    _pattern(Slot.EDUCATION, _FACT, r"(?:学的是|专业是|主修|在读|正在读|"
             r"读)(?P<value>[^这那你的，书过完到]{2,14}(?:专业|博士|硕士|研究生|系|本科|学|"
             r"[一二三四]年级)?)", of_others=True),
    _pattern(Slot.EDUCATION, _FACT, r"(?:上|在上|读|念)(?P<value>(?:小学|初中|高中|大学)?[一二三四五六]年级|"
             r"幼儿园.{0,4}|大[一二三四]|高[一二三]|初[一二三]|研[一二三])(?:了)?", of_others=True),
    _pattern(Slot.PET, _FACT, rf"(?:家里|家中|家)?(?:还|现在)?(?P<no>没)?(?:有|养了|养着|养过|养|领养了|"
             rf"收养了)(?:了)?{_COUNT}(?P<value>.{{0,6}}?(?:{ANIMALS})(?!粮|窝|砂|咖)[^，的]{{0,14}})",
             of_others=True),
    _pattern(Slot.PET, _FACT, rf"(?:家)?(?:的)?(?P<value>(?:{ANIMALS}).{{0,4}}(?:叫|名叫|名字叫|名字是).{{1,8}})"),
    _pattern(Slot.NAME, _FACT, r"(?:的)?(?:名叫|叫做|叫|名字叫做|名字叫|名字是|姓名是|全名是|英文名是|英文名叫|"
             r"昵称是)(?!我|你|他|她|车|外卖|人|醒|停|住|不|什么|了|个|"
             r"它|一|上|来|过|好|苦)(?P<value>[\w·. ]{2,20})"),
    _pattern(Slot.AGE, _FACT, r"(?:今年|年龄是|快|刚满|已经)*(?:有)?(?P<value>[一二三四五六七八九十百\d]{1,4}岁(?:了|"
             r"半)?)", of_others=True),
    _pattern(Slot.BIRTHDAY, _FACT, r"(?:的)?(?:生日是|生日在|出生日期是|生于|"
             r"出生于)(?P<value>.{2,16})", of_others=True),
    _pattern(Slot.FAMILY, _FACT, rf"(?:家里|家中|"
             rf"家)?(?:还)?(?P<no>没)?有(?:了)?{_COUNT}(?P<value>.{{0,6}}?(?:{KIN_FORM}|双胞胎)(?!圈|的|们|说|"
             rf"[们让叫给要帮送问推介结])(?:[，,]?(?:叫|在|是|都|今年|已经)?.{{0,12}})?)",
             of_others=True),
    _pattern(Slot.FAMILY, _FACT, r"(?:已经|刚|还是|是|目前)*(?P<value>结婚(?:了|[^，]{1,8})|已婚.{0,4}|离婚了|离异|"
             r"单身|未婚|订婚了|独生子女?)", of_others=True),
    _pattern(Slot.LANGUAGE, _FACT, rf"(?P<no>不)?(?:会|能|会说|能说|说|讲|懂|正在学|在学|学|母语是)(?:一点|一点点|"
             rf"流利的)?(?P<value>(?:{_LANGUAGES})(?:[、和](?:{_LANGUAGES}))*)", of_others=True),
    _pattern(Slot.SKILL, _FACT, r"(?P<no>不)?(?:会|能)(?P<value>(?:弹|拉|吹|唱|跳)[^，这那您你]{1,8}|打(?:篮球|"
             r"羽毛球|网球|乒乓球|太极|鼓|高尔夫)|游泳|开车|编程|写代码|写毛笔字|"
             r"做饭|做菜|做蛋糕|滑雪|滑冰|下(?:围棋|象棋|国际象棋)|烘焙|骑(?:自行车|摩托车|马)|织毛衣|修(?:电脑|车|"
             r"水管)|画(?:画|油画|素描|国画)|剪辑视频)", of_others=True),
    _pattern(Slot.SKILL, _FACT, r"(?:擅长|精通|正在学|在学|学会了|"
             r"自学)(?P<value>[^，这那你您我如怎]{2,12})", of_others=True),
    _pattern(Slot.POSSESSION, _FACT, rf"(?:(?P<no>没)?(?:有|买了|买过|用的是|开的是|换了|入手了|拥有)(?:一|两|"
             rf"三)?(?:辆|台|部|把|架|套|个|间|块|副|款|张)?|(?:开|用)(?:着)?(?:一|两|三)?(?:辆|台|部|把|架|套|"
             rf"款))(?:新的?)?(?P<value>[\w ·-]{{0,12}}?(?:{_THINGS})[A-Za-z0-9 ]{{0,12}})",
             of_others=True),
    _pattern(Slot.GOAL, _FACT, r"(?:的)?(?:梦想|目标|理想|愿望|"
             r"计划)(?:就)?是(?P<value>[^这那你您它]{3,40})", of_others=True),
    _pattern(Slot.GOAL, _FACT, r"(?:一直)?(?:想|打算|计划|决定|准备)(?P<value>(?:学|考|当|成为|开一?家|创业|攒钱|"
             r"减肥|戒|换工作|跳槽|移民|留学|出国|读|买房|买车|减重|"
             r"备考|自学|写一?本|辞职|搬)[^这那你您它吗]{0,30})", of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, rf"(?:喜欢|爱吃|爱喝|爱看|爱听|爱玩|热爱|钟爱|偏爱|偏好|喜爱|迷上了?|痴迷于?|"
             rf"爱好是|的爱好是|热衷于?|对(?=.{{1,10}}(?:感兴趣|着迷)$)|更喜欢){_NOT_A_THING}(?P<value>[^，]{{1,24}})",
             of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, rf"(?P<no>不太喜欢|不喜欢|不怎么喜欢|不爱吃|不爱喝|不爱看|不爱|讨厌|厌恶|受不了|"
             rf"不习惯|最怕|害怕|怕(?=吵|冷|热|黑|高|虫|蛇|狗|打针)|反感|"
             rf"不再喜欢){_NOT_A_THING}(?P<value>[^，]{{1,24}})",
             of_others=True),
    _pattern(Slot.FAVOURITE, _PREFERENCE, rf"(?:最爱的?|"
             rf"最喜欢的){_NOT_A_THING}(?P<value>[^，]{{1,24}})", of_others=True),
    _pattern(Slot.FAVOURITE, _PREFERENCE, r"最?喜欢的(?P<value>[^，]{1,10}是[^，这那]{1,20})", of_others=True),
    _pattern(Slot.RELATION, Kind.RELATION, rf"是(?P<value>(?:我|用户)(?:的)?(?:{KIN_FORM}))", of_others=True),
    _pattern(Slot.HABIT, _FACT, r"(?P<no>不|从不|从来不|戒)(?P<value>抽烟|喝酒|吸烟|熬夜|运动|喝咖啡|喝茶|开车|"
             r"喝冷饮|烟|酒)(?:了)?", of_others=True),
    _pattern(Slot.HABIT, _FACT, r"(?:又|重新|再次|现在|已经)*(?P<value>开始(?:吃|喝|抽)(?!饭|早|午|晚|药|了|着|"
             r"过|到|的)[^，。这那你您它了]{1,10})(?:了)?", of_others=True),
    _pattern(Slot.HABIT, _FACT, rf"(?P<value>{OFTEN}(?:会|都会|要|都要|都)?(?!这|那|在想|觉得|说|问|提醒|看到|收到|"
             rf"担心|感到)(?:[去跑喝吃做写看练游打骑走睡起读弹早健冥散午遛加值熬用花坐开泡拉]|六点|七点|五点|"
             rf"\d).{{1,20}})", of_others=True),
)  # fmt: skip

_IDLE = (
    "(?!.*(?:试试|看看|找找|再聊|聊聊|更有|联系|一下$|体验了|再说|回复|回你|发你|告诉|想想|睡觉|休息吧|拥抱|迎接|面对|"
    "[去买看做加成见吃拿办签订跑](?:了|过)(?!$)))"
)
PLANS: tuple[Pattern, ...] = (
    _pattern(Slot.PLAN, _EVENT, rf"{_IDLE}(?P<value>(?:要|得|会|将|将要|打算|准备|计划|约了|安排了|有|需要|就|就要|"
             rf"想)(?:[^，这那你您它]{{0,10}})(?:{_PLANNED}).{{0,24}})", bare=True, of_others=True),
    _pattern(Slot.PLAN, _EVENT, rf"{_IDLE}(?P<value>(?:{_PLANNED})[^，你您]{{0,24}})", bare=True, of_others=True),
    _pattern(Slot.PLAN, _EVENT, r"(?P<value>有(?:一?[个场次节])?[^，这那]{0,10}(?:会议|会|面试|考试|约会|手术|航班|"
             r"课|比赛|演讲|答辩|聚会|聚餐|婚礼|预约|演出))", bare=True, of_others=True),
)  # fmt: skip

EVENTS: tuple[Pattern, ...] = (
    _pattern(Slot.EVENT, _EVENT, r"(?P<value>(?:和[^，这那]{1,8}|跟[^，这那]{1,8}|带[^，这那]{1,8}|陪[^，这那]{1,8}|"
             r"在(?!意|乎|想)[^，这那]{2,14}|从[^，这那]{2,10})?(?:一起)?"
             r"(?:去了|去过|到过|去(?=.*了$)|参加了|参加过|参观了|买了|买到了?|换了|收到了|看了|看完了|读完了|读了|"
             r"完成了|通过了|考过了|拿到了|获得了|赢了|"
             r"输了|丢了|卖了|卖掉了|订了|预订了|预约了|学了|学会了|开始学|开始练|开始|报名了|报了|加入了|认识了|"
             r"写完了|发布了|上线了|"
             r"做了|做完了|吃了|喝了|跑了|跑完了|爬了|拍了|见了|修好了|种了|装了|办了|签了|摔伤了|扭伤了|弄丢了|忘带了|"
             r"生了|领养了|捡到了|租了|打了|打完了|玩了|听了|聊了|请了|辞了|调整了|整理了|交了|提交了|结束了|组织了|"
             r"举办了|主持了|升|体验了|尝试了|试了)"
             r"(?!一下|眼|口气|头|个头|什么|吗|解|么|您|你|下|大忙|不少|很多|半天|一会|想|"
             r"又)[^，这那你您它]{2,40}(?<!玩玩)(?<!看看)(?<!试试)(?<!一下))", of_others=True),
    _pattern(Slot.EVENT, _EVENT, r"(?P<value>(?:毕业|辞职|离职|升职|搬家|失业|退休|感冒|发烧|住院|骨折|结婚|离婚|"
             r"生病|被裁|入职|转正|出院|体检)(?:了|过))", of_others=True),
)  # fmt: skip

# «我的…是…»
THINGS_SAID: dict[str, tuple[Slot, Kind]] = {
    "名字": (Slot.NAME, _FACT), "生日": (Slot.BIRTHDAY, _FACT), "职业": (Slot.JOB, _FACT), "工作": (Slot.JOB, _FACT),
    "专业": (Slot.EDUCATION, _FACT), "老家": (Slot.ORIGIN, _FACT), "家乡": (Slot.ORIGIN, _FACT),
    "爱好": (Slot.LIKE, _PREFERENCE), "血型": (Slot.HEALTH, _CONSTRAINT), "母语": (Slot.LANGUAGE, _FACT),
    "身高": (Slot.HEALTH, _FACT), "体重": (Slot.HEALTH, _FACT), "手机": (Slot.POSSESSION, _FACT),
    "电脑": (Slot.POSSESSION, _FACT), "车": (Slot.POSSESSION, _FACT), "航班": (Slot.PLAN, _FACT),
    "目标": (Slot.GOAL, _FACT), "梦想": (Slot.GOAL, _FACT), "昵称": (Slot.NAME, _FACT), "英文名": (Slot.NAME, _FACT),
    "网名": (Slot.NAME, _FACT), "星座": (Slot.BIRTHDAY, _FACT), "公司": (Slot.JOB, _FACT),
    "学校": (Slot.EDUCATION, _FACT),
}  # fmt: skip

PROJECT = re.compile(
    r"(?P<what>(?:我们|咱们|本|公司|团队|这边)?(?:的)?(?P<noun>项目|团队|公司|后端|前端|系统|服务|网站|数据库|产品|"
    r"应用|平台|代码库|仓库|小组|部门|店里|店铺))"
    r"(?:现在|目前|一直|都|主要|的)*(?P<said>(?:后端|前端|数据库|缓存|部署|代码)?(?:用的是|使用的是|用|使用|采用|"
    r"跑在|部署在|托管在|基于|迁移到了?|换成了?|改用了?|叫|叫做|"
    r"支持|依赖|位于|在)(?P<value>(?=.*[A-Za-z0-9]|.{2,})[^，这那你您它]{2,40}))"
)
DEADLINE = re.compile(
    r"(?P<what>(?:[\w]{2,10}?)(?:的)?(?:截止日期|截止时间|交付日期|上线时间|上线日期|发布日期|死线|deadline|预算|"
    r"代号))(?:是|在|为|定在|改到了?|改为)(?P<value>(?=.*[\d一二三四五六七八九十月日号周底初末A-Za-z]).{2,24})"
)
