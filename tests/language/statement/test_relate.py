"""How two statements stand to each other: general grammar, told by many small cases of both languages."""

from __future__ import annotations

import pytest

from hindsight.language.statement.claims import read
from hindsight.language.statement.relate import relate
from hindsight.language.statement.verdict import Relation

SAME = [
    ("我住在青岛", "我在青岛居住"),
    ("我在青岛", "我家住青岛市南区"),
    ("I live in Lyon", "My home is in Lyon"),
    ("I live in Lyon", "I live near the river in Lyon"),
    ("I work as a plumber", "I'm a plumber"),
    ("我是律师", "我的职业是律师"),
    ("我的工作是会计", "我是一名会计"),
    ("My son is called Theo", "My son's name is Theo"),
    ("I've got two dogs", "I have two dogs"),
    ("我有两只狗", "我养了两条狗"),
    ("I have a parrot", "I have a green parrot called Kiwi"),
    ("My phone is a Pixel 7", "I use a Pixel 7 phone"),
    ("我用的电脑是 ThinkPad", "我的电脑是 ThinkPad"),
    ("The meeting starts at 10", "The meeting is at 10 o'clock"),
    ("The database is PostgreSQL 15", "We use PostgreSQL 15 as our database"),
    ("数据库用的是 MySQL 8", "我们的数据库是 MySQL 8"),
    ("I don't eat meat", "I never eat meat"),
    ("我从不喝酒", "我不喝酒"),
    ("I sleep at 11 pm", "I go to bed at 11 pm"),
    ("我晚上十一点睡觉", "我一般晚上11点睡"),
    ("My salary is 20k a month", "I earn 20,000 per month"),
    ("我月薪两万", "我的工资是每月20000元"),
    ("I have high blood pressure", "I suffer from hypertension"),
    ("我有哮喘", "我患有哮喘"),
    ("She lives in Oslo", "She resides in Oslo"),
    ("我喜欢跑步", "我爱跑步"),
    ("I'm fond of opera", "I love opera"),
    ("My anniversary is on May 2", "Our anniversary is May 2nd"),
    ("我女朋友叫小雅", "我女友名叫小雅"),
    ("公司在三里屯", "我们公司位于三里屯"),
    ("我的英文名是 Alex", "我英文名叫 Alex"),
    ("Tests are run with pytest", "We run tests with pytest"),
    ("我坐地铁上班", "我上班坐地铁"),
    ("我妈妈住在苏州", "My mother lives in Suzhou"),
    ("我有一个儿子", "I have a son"),
    ("I drink coffee every morning", "我每天早上喝咖啡"),
    ("The deadline is Friday", "截止时间是周五"),
    ("我每周三上瑜伽课", "我周三有瑜伽课"),
    ("我家有三口人", "我们家一共三口人"),
    ("我血型是A型", "我是A型血"),
    ("我的邮箱是 a@b.com", "我邮箱地址是 a@b.com"),
    ("我奶奶今年八十岁", "我奶奶80岁了"),
    ("我近视", "我有近视"),
    ("我不能喝牛奶", "我喝不了牛奶"),
    ("我乳糖不耐受", "我有乳糖不耐症"),
    ("我每天睡七个小时", "我每天的睡眠时间是7小时"),
    ("我开的是丰田卡罗拉", "我的车是丰田卡罗拉"),
    ("我们用 Git 管理代码", "代码用 Git 管理"),
    ("部署在阿里云上", "我们部署在阿里云"),
    ("接口文档在 Confluence 上", "接口文档放在 Confluence"),
    ("我女儿学钢琴", "我女儿在学钢琴"),
    ("我有点怕高", "我恐高"),
    ("我戴眼镜", "我平时戴眼镜"),
    ("公司有两百名员工", "我们公司员工有200人"),
    ("我的航班是明天上午九点", "我明天早上9点的航班"),
    ("我家的狗是金毛", "我养的狗是一只金毛"),
    ("我喜欢安静的酒店房间", "我喜欢酒店房间安静"),
    ("请用中文回答我", "回答我请用中文"),
    ("别在周末给我发消息", "周末不要给我发消息"),
    ("I'm 34", "I'm 34 years old"),
    ("I've lived in Ghent since 2015", "I live in Ghent"),
    ("My favorite color is green", "Green is my favorite color"),
    ("I've got a sister named Zoe", "My sister's name is Zoe"),
    ("My flight leaves at 7:45 am", "My flight departs at 7:45 in the morning"),
    ("I wake up at six", "I get up at 6 o'clock"),
    ("My blood type is O", "I have type O blood"),
    ("My email is x@y.org", "My email address is x@y.org"),
    ("I am lactose intolerant", "I have lactose intolerance"),
    ("My grandma is eighty", "My grandmother is 80 years old"),
    ("The repo is hosted on GitHub", "We host the repo on GitHub"),
    ("Call me Max", "My name is Max"),
    ("叫我小林", "我叫小林"),
    ("I'm a morning person", "I am a morning person"),
    ("I sleep seven hours a night", "I get seven hours of sleep per night"),
    ("Please reply in English", "Always reply in English"),
    ("Don't call me before 9", "Never call me before 9"),
    ("I'm scared of dogs", "I'm afraid of dogs"),
    ("I drive a Mazda", "My car is a Mazda"),
    ("The server runs Ubuntu 22.04", "Our server is on Ubuntu 22.04"),
    ("我会说日语", "I can speak Japanese"),
    ("我怕狗", "I'm afraid of dogs"),
    ("我三十四岁", "I'm 34 years old"),
    ("我女儿五岁", "My daughter is five"),
    ("会议在十点开始", "The meeting starts at 10"),
    ("我喜欢喝绿茶", "I like green tea"),
    ("我家有一个花园", "I have a garden"),
    ("I run every morning", "我每天早上跑步"),
    ("My team has six people", "我的团队有六个人"),
    ("I don't eat beef", "我不吃牛肉"),
    ("We use Python 3.11", "我们用 Python 3.11"),
    ("My brother is a pilot", "我哥哥是飞行员"),
    ("The office closes at 6 pm", "办公室下午六点关门"),
    ("I like my steak medium rare", "I prefer my steak medium rare"),
    ("项目截止日期是六月三十日", "项目6月30日截止"),
    ("The project is due on June 30", "The project deadline is June 30"),
    ("我在一家银行工作", "我是银行职员"),
    ("我有个弟弟叫小军", "我弟弟叫小军"),
    ("我们每天站会在九点半", "每天9:30开站会"),
    ("I have an appointment with Dr. Lee on Friday", "My appointment with Dr. Lee is on Friday"),
    ("I'm based in Tallinn", "I live in Tallinn"),
    ("I am from Ghana", "I come from Ghana"),
    ("My budget is 500 euros", "I have a budget of 500 euros"),
    ("预算是五百欧元", "我的预算为500欧元"),
]

DIFFERENT = [
    ("去香山的第1次门票十元", "去香山的第2次门票十元"),
    ("我住在里斯本", "我家住在三楼"),
    ("I moved to Lisbon in March", "我家住在三楼"),
    ("I live in Lisbon", "We live on the third floor"),
    ("The website uses Nginx", "The API gateway uses Nginx"),
    ("The website uses Nginx", "The website uses Cloudflare as well"),
    ("The billing service uses Kafka", "The search service uses Elasticsearch"),
    ("订单系统用 Kafka", "支付系统用 Kafka"),
    ("订单系统用 Kafka", "订单系统也用 RabbitMQ"),
    ("张三负责前端", "李四负责后端"),
    ("Maria speaks Italian", "Maria speaks Greek"),
    ("Tom owns a bakery", "Tom owns a bookshop"),
    ("我在学法语", "我也在学日语"),
    ("Our app supports English", "Our app supports Korean"),
    ("这台打印机支持双面打印", "这台打印机支持彩色打印"),
    ("Anna teaches chemistry", "Paul teaches chemistry"),
    ("Room 204 is booked for Monday", "Room 205 is booked for Monday"),
    ("Gate B12 is closed", "Gate B21 is closed"),
    ("Flight LH400 leaves at nine", "Flight LH404 leaves at nine"),
    ("The 2021 budget was approved", "The 2022 budget was approved"),
    ("Prof. Alan Meyer is on leave", "Prof. Ellen Meyer is on leave"),
    ("Dr John Harris is my doctor", "Dr Joan Harris is my doctor"),
    ("Marian works in sales", "Marion works in sales"),
    ("Austria borders Italy", "Australia exports wool"),
    ("204教室的门坏了", "205教室的门坏了"),
    ("航班CA1501取消了", "航班CA1510准点"),
    ("2022年度审计完成了", "2023年度审计完成了"),
    ("王建军喜欢钓鱼", "王建君喜欢钓鱼"),
    ("小陈住在三楼", "小程住在五楼"),
    ("The patient in bed 3 needs insulin", "The patient in bed 4 needs insulin"),
    ("Version 2.1 fixes the login bug", "Version 2.2 fixes the export bug"),
    ("Order 5519 has shipped", "Order 5591 has shipped"),
    ("I can't eat nuts", "I am allergic to nuts"),
    ("我喜欢红色", "我喜欢红酒"),
    ("I like coffee", "I like tea"),
    ("我弟弟喜欢足球", "我弟弟喜欢篮球"),
    ("I want to visit Peru", "I want to visit Chile"),
    ("I have a meeting with Ben at 3", "I have a meeting with Lisa at 4"),
    ("My cat is black", "My dog is black"),
    ("My cat is called Luna", "My dog is called Luna"),
    ("我的猫叫花花", "我的狗叫花花"),
    ("I can cook pasta", "I can't cook fish"),
    ("I eat beef", "I don't eat lamb"),
    ("厨房在一楼", "书房在二楼"),
    ("The red button starts the pump", "The green button stops the pump"),
    ("My mother is 60", "My father is 62"),
    ("我妈妈60岁", "我爸爸62岁"),
    ("My wifi password is hunter2", "My email password is hunter3"),
    ("Backups run at 2 am", "Reports run at 6 am"),
    ("备份在凌晨两点执行", "报表在早上六点生成"),
    ("I bought apples", "I bought pears"),
    ("我去年去了日本", "我今年去了韩国"),
    ("I have a headache", "I have a fever"),
    ("I take metformin in the morning", "I take statins in the evening"),
    ("My left knee hurts", "My right shoulder hurts"),
    ("我在上海出差", "我家在杭州"),
    ("I used to live in Rome", "I live in Milan"),
    ("我以前在华为工作", "我现在在小米工作"),
    ("My office is in Paris", "I live in Versailles"),
    ("I play guitar", "My brother plays guitar"),
    ("Use tabs in Go files", "Use spaces in Python files"),
    ("Sam is Kate's brother", "Sam is Leo's father"),
    ("I met Olga in 2018", "I met Pavel in 2018"),
    ("我买了一台冰箱", "我买了一台洗衣机"),
    ("I like summer", "I dislike winter"),
    ("周一开例会", "周三开评审会"),
    ("My Spanish teacher is Carla", "My French teacher is Claire"),
    ("dev 环境用 8081 端口", "prod 环境用 8082 端口"),
    ("I don't drive", "I don't cycle"),
    ("我不会游泳", "我不会滑雪"),
    ("The invoice for May is paid", "The invoice for June is paid"),
    ("五月的发票已付", "六月的发票已付"),
    ("I read Dune last year", "I read Emma last year"),
    ("My bank is Barclays", "My insurer is Aviva"),
    ("Lunch is at noon", "Dinner is at seven"),
    ("我女儿对鸡蛋过敏", "我儿子对牛奶过敏"),
    ("The gym opens at 6", "The pool opens at 8"),
    ("我每天喝两杯水", "我每天走一万步"),
    ("我喜欢喝绿茶", "我喜欢喝红茶"),
    ("我怕狗", "我怕蛇"),
    ("I'm afraid of dogs", "I'm afraid of heights"),
    ("I have a garden", "I have a garage"),
    ("My shoe size is 9", "My ring size is 7"),
    ("我鞋码是42", "我帽子尺寸是58"),
    ("My brother is a pilot", "My cousin is a pilot"),
    ("The office closes at 6 pm", "The shop closes at 9 pm"),
    ("I studied biology at Leiden", "I studied history at Leiden"),
    ("I booked a train to Lyon", "I booked a hotel in Lyon"),
    ("Don't call me before 9", "Don't email me on Sundays"),
    ("请用中文回答我", "请用简短的句子回答我"),
    ("Always reply in English", "Always cite your sources"),
    ("My appointment with Dr. Lee is on Friday", "My appointment with Dr. Kim is on Monday"),
    ("我血型是A型", "我老公血型是B型"),
    ("I take the tram to work", "I take the train to my parents"),
    ("用 Git 管理代码", "用 Jira 管理任务"),
    ("My kids go to school in Bern", "My kids go to camp in July"),
    ("我妹妹在北京上学", "我妹妹在肯德基打工"),
    ("我爷爷住在乡下", "我外公住在乡下"),
    ("The API returns JSON", "The export returns CSV"),
    ("I own a canoe", "I own a tent"),
    ("Luis lives in Quito", "Luisa lives in Quito"),
    ("会议室A有投影仪", "会议室B有白板"),
    ("我对狗毛过敏", "我对猫毛过敏"),
    ("I had a meeting with Ana yesterday", "I have a meeting with Ana tomorrow"),
    ("My son likes dinosaurs", "My son likes trains"),
    ("I sold my old bike", "I have a new scooter"),
    ("The printer on floor 2 is jammed", "The printer on floor 3 is jammed"),
    ("I left my umbrella at the office", "I work at the library"),
    ("I cancelled my gym membership", "I have a library card"),
    ("周五的电影取消了", "周六的音乐会在七点"),
    ("The Berlin office moved to Mitte", "The Paris office is in Bercy"),
    ("My wife changed jobs", "I work at a school"),
    ("我老婆换工作了", "我在学校工作"),
    ("Server A was upgraded to 64 GB", "Server B has 16 GB"),
    ("I stopped eating sugar", "I drink coffee with milk"),
    ("我不再吃甜食了", "我每天喝咖啡"),
    ("Tom left Google", "Alice works at Google"),
    ("我的仓鼠死了", "我的猫三岁"),
]

SUPERSEDES = [
    ("I live in Prague", "I now live in Vienna"),
    ("我住在无锡", "我现在住在常州"),
    ("I work at Siemens", "I've joined Bosch"),
    ("我在网易上班", "我去年跳槽到了京东"),
    ("My phone is a Nokia", "My phone is now a Samsung"),
    ("The server has 16 GB of RAM", "The server now has 64 GB of RAM"),
    ("服务器内存是16G", "服务器内存升级到64G了"),
    ("I have two kids", "I have three kids now"),
    ("我儿子三岁", "我儿子四岁了"),
    ("My rent is $1,200", "My rent went up to $1,350"),
    ("We use Travis for CI", "We replaced Travis with GitHub Actions"),
    ("The password is swordfish", "The password was changed to marlin"),
    ("密码是 abc123", "密码改成了 xyz789"),
    ("The party is on Saturday", "The party has been moved to Sunday"),
    ("面试在下午两点", "面试提前到上午十点"),
    ("The trip to Cuba is in May", "The trip to Cuba is off, it was cancelled"),
    ("下周去爬山", "下周的爬山活动取消了"),
    ("I'm engaged to Tom", "Tom and I got married"),
    ("I have a motorbike", "I sold my motorbike"),
    ("我有一辆摩托车", "我把摩托车卖了"),
    ("My grandfather lives in Bari", "My grandfather passed away"),
    ("I'm unemployed", "I started a new job at Bayer"),
    ("我在找工作", "我入职腾讯了"),
    ("Paul is our CTO", "Paul stepped down as CTO"),
    ("I'm a student", "I finished my degree"),
    ("我在读大四", "我大学毕业了"),
    ("The release is planned for March", "The release slipped to April"),
    ("I'm on a keto diet", "I gave up the keto diet"),
    ("我在减肥", "我不减肥了"),
    ("The build takes 20 minutes", "The build takes 5 minutes now"),
    ("The repository is private", "The repository is public now"),
    ("我的医保在北京", "我的医保转到上海了"),
    ("Our office is in Soho", "Our office has moved to Camden"),
    ("My boss is Ingrid", "My new boss is Pierre"),
    ("我的经理是老赵", "我的经理换成老钱了"),
    ("I don't have a dog", "I got a dog last week"),
    ("The bug is open", "The bug is fixed"),
    ("工单 88 还没处理", "工单 88 已经处理了"),
    ("I'm renting a flat", "I bought a flat"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_one_fact_in_other_words_is_the_same(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.SAME


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_what_can_hold_beside_the_other_is_different(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.DIFFERENT


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_neither_order_makes_different_ones_the_same(first: str, second: str) -> None:
    assert relate(read(second), read(first)).relation is not Relation.SAME


@pytest.mark.parametrize(("first", "second"), SUPERSEDES)
def test_news_takes_the_place_of_what_was_known(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.SUPERSEDES


ORDERED = [
    ("Room 12 has 3 chairs", "Room 3 has 12 chairs"),
    ("Room 12 with 3 chairs", "Room 3 with 12 chairs"),
    ("12号房有3把椅子", "3号房有12把椅子"),
    ("Crate 3-0-0 holds 0 bolts", "Crate 3-3-0 holds 0 bolts"),
    ("Version 1.2 needs Python 3", "Version 3 needs Python 1.2"),
    ("第2组赢了第5组", "第5组赢了第2组"),
    ("3 cats and 2 dogs live here", "2 cats and 3 dogs live here"),
    ("我有3只猫2只狗", "我有2只猫3只狗"),
    ("Bus 7 leaves at 9", "Bus 9 leaves at 7"),
    ("Tom owes Ann 5 euros", "Ann owes Tom 5 euros"),
    ("Team A beat team B", "Team B beat team A"),
    ("The flight goes from Rome to Oslo", "The flight goes from Oslo to Rome"),
    ("我从北京飞上海", "我从上海飞北京"),
]


HABITS = [
    ("夏天的轮胎每年换一次", "冬天的轮胎每年换一次"),
    ("我的牙刷每月换一次", "我的滤芯每年换一次"),
    ("The filter of pump A is changed every month", "The filter of pump B is changed every year"),
    ("I move my money every month", "I live in Oslo"),
]


@pytest.mark.parametrize(("first", "second"), HABITS)
def test_what_changes_again_and_again_is_no_news(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.DIFFERENT
    assert relate(read(second), read(first)).relation is Relation.DIFFERENT


@pytest.mark.parametrize(("first", "second"), ORDERED)
def test_the_same_words_in_an_order_that_matters_are_different(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.DIFFERENT


@pytest.mark.parametrize("text", [text for pair in (*SAME, *SUPERSEDES) for text in pair])
def test_a_statement_is_the_same_as_itself(text: str) -> None:
    assert relate(read(text), read(text)).relation is not Relation.SUPERSEDES


@pytest.mark.parametrize("text", ["", " ", "。。。", "?!", "的了吗", "🐈", "a" * 300, "1 2 3", "not", "不", "\u200b"])
def test_any_text_can_be_read(text: str) -> None:
    assert relate(read(text), read("I live in Oslo")).relation is not Relation.SAME


def test_words_of_another_script_count_only_where_the_texts_are_near() -> None:
    old, new = read("我住在努库阿洛法"), read("I live in Nukualofa")
    assert relate(old, new, 0.9).relation is Relation.SAME
    assert relate(old, new, 0.7).relation is not Relation.SAME
    assert relate(old, new).relation is not Relation.SAME


@pytest.mark.parametrize(
    ("first", "second"),
    [("我住在3楼", "我搬到5楼了"), ("I live on the third floor", "I moved to the fifth floor")],
)
def test_a_floor_takes_the_place_of_another_floor(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.SUPERSEDES
