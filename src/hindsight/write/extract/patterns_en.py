"""The English predicates that are understood, by their verb."""

from __future__ import annotations

import re

from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot
from hindsight.write.extract.clause import Pattern

# A person of the speaker's, and the one word that statements about them share in both languages.
KIN = {
    "wife": "wife", "husband": "husband", "partner": "partner", "girlfriend": "girlfriend", "boyfriend": "boyfriend",
    "fiance": "fiancé", "fiancé": "fiancé", "fiancee": "fiancée", "fiancée": "fiancée", "son": "son",
    "daughter": "daughter", "baby": "baby", "kid": "child", "mother": "mother", "mom": "mother", "mum": "mother",
    "father": "father", "dad": "father", "brother": "brother", "sister": "sister", "grandmother": "grandmother",
    "grandma": "grandmother", "grandfather": "grandfather", "grandpa": "grandfather", "uncle": "uncle", "aunt": "aunt",
    "cousin": "cousin", "nephew": "nephew", "niece": "niece", "boss": "boss", "manager": "manager",
    "roommate": "roommate", "flatmate": "roommate", "colleague": "colleague", "coworker": "colleague",
    "co-worker": "colleague", "neighbor": "neighbour", "neighbour": "neighbour", "friend": "friend",
    "best friend": "best friend", "teacher": "teacher", "doctor": "doctor", "therapist": "therapist",
    "mentor": "mentor", "coach": "coach",
}  # fmt: skip
KIN_FORM = "|".join(sorted(map(re.escape, KIN), key=len, reverse=True))
PETS = (
    r"dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|rabbits?|bunn(?:y|ies)|hamsters?|parrots?|turtles?|tortoises?|goldfish|"
    r"guinea pigs?|horses?|lizards?|geckos?|snakes?|pets?|corg(?:i|is)|labradors?|poodles?|beagles?|ferrets?|budgies?|"
    r"canar(?:y|ies)|chickens|golden retrievers?|german shepherds?|huskies|husky"
)
_ILLNESS = (
    r"diabetes|asthma|epilepsy|high blood pressure|hypertension|low blood pressure|celiac disease|coeliac disease|"
    r"arthritis|migraines?|an[a]?emia|heart disease|a heart condition|gout|eczema|depression|anxiety|adhd|ibs|"
    r"insomnia|sleep apnea|a bad (?:back|knee)|an ulcer|psoriasis|dyslexia|vertigo|tinnitus|asthma attacks|"
    r"high cholesterol|chronic [a-z]+(?: [a-z]+)?|(?:an?\s+)?(?:[\w-]+\s+){1,2}(?:allergy|allergies|intolerance)|"
    r"a pacemaker"
)
_MEDICINE = (
    r"insulin|metformin|antidepressants?|antibiotics?|blood thinners?|statins?|ibuprofen|aspirin|warfarin|lisinopril|"
    r"levothyroxine|omeprazole|beta blockers?|birth control|melatonin|medication\b.*|[\w ]{0,20}\b(?:tablets?|pills?)|"
    r"[a-z]+(?:pril|sartan|statin|zole|pine|cillin|mycin|oxetine|olol|azepam|formin|gliptin)"
)
_TRADE = (
    r"engineer|developer|programmer|doctor|nurse|teacher|professor|lawyer|attorney|accountant|designer|manager|student|"
    r"journalist|editor|writer|author|translator|chef|cook|driver|police officer|consultant|researcher|scientist|"
    r"architect|analyst|photographer|painter|actor|actress|singer|athlete|coach|freelancer|founder|pharmacist|pilot|"
    r"dentist|vet|veterinarian|plumber|electrician|carpenter|farmer|banker|barista|librarian|therapist|psychologist|"
    r"surgeon|artist|musician|firefighter|mechanic|realtor|salesperson|administrator|paramedic|counsel+or|"
    r"social worker|screenwriter|tutor|instructor|dancer|streamer|blogger|sysadmin|cto|ceo|cfo|intern|"
    r"gamer|waiter|waitress|bartender|tailor|hairdresser|stylist|recruiter|bookkeeper|machinist|soldier|model"
)
_DEGREE = r"(?:college|university|high school|grad school|law school|med(?:ical)? school|school)"
_THINGS = (
    r"cars?|bikes?|bicycles?|motorcycles?|motorbikes?|scooters?|trucks?|vans?|rvs?|boats?|phones?|smartphones?|"
    r"iphones?|"
    r"laptops?|macbooks?|computers?|pcs?|tablets?|ipads?|kindles?|cameras?|printers?|3d printers?|consoles?|"
    r"playstations?|xbox(?:es)?|nintendo switch|tvs?|monitors?|keyboards?|headphones|airpods|smart ?watch(?:es)?|"
    r"watch(?:es)?|"
    r"guitars?|pianos?|violins?|drums|drum kits?|ukuleles?|houses?|apartments?|flats?|cabins?|cottages?|gardens?|"
    r"greenhouses?|tattoos?|telescopes?|drones?|sewing machines?|espresso machines?|air fryers?|treadmills?|tesla|"
    r"toyota|honda|ford|bmw|prius|subaru|thinkpad|tent|kayak|surfboard|skateboard|snowboard|aquarium|fish tank|"
    r"driver['’]s licen[cs]e|driving licen[cs]e|passports?|visa|gym membership|degree|phd|master['’]s(?: degree)?|"
    r"bachelor['’]s(?: degree)?|podcast|blog|youtube channel|website|online store|startup"
)
_LANGUAGES = (
    r"english|spanish|french|german|italian|portuguese|dutch|swedish|norwegian|danish|finnish|polish|czech|russian|"
    r"ukrainian|greek|turkish|arabic|hebrew|hindi|urdu|bengali|tamil|persian|farsi|chinese|mandarin|cantonese|japanese|"
    r"korean|vietnamese|thai|indonesian|malay|swahili|latin|esperanto|sign language|hungarian|romanian|tagalog"
)
_PLAYED = (
    r"(?:the )?(?:guitar|piano|violin|cello|drums|bass|flute|clarinet|saxophone|trumpet|harp|ukulele|keyboard|"
    r"viola|banjo|harmonica)|soccer|football|basketball|tennis|golf|baseball|volleyball|badminton|chess|hockey|"
    r"rugby|cricket|squash|table tennis|poker|pickleball|board games|video games|d&d"
)
_SUBJECTS = r"[A-Za-z][\w&+#/ -]{1,50}"
TIME = (
    r"(?:(?:earlier |late |early |just |right )?(?:today|tonight|tomorrow(?: \w+)?|yesterday(?: \w+)?|the day after "
    r"tomorrow|the day before yesterday|now)|(?:early |late |earlier )?(?:last|next|this|this coming|this past)"
    r"(?: \w+)? (?:morning|afternoon|evening|night|day|"
    r"week|weekend|month|year|spring|summer|autumn|fall|winter|quarter|semester|monday|tuesday|wednesday|thursday|"
    r"friday|"
    r"saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december)|"
    r"last night|"
    r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple(?: of)?|several|some|many|\d+) "
    r"(?:minutes?|hours?|days?|weeks?|weekends?|months?|years?) ago|"
    r"in (?:a|an|one|two|three|four|five|six|ten|a few|a couple(?: of)?|\d+) (?:minutes?|hours?|days?|weeks?|months?|"
    r"years?)|in (?:early |late |mid-?)?(?:january|february|march|april|may|june|july|august|september|october|"
    r"november|"
    r"december|\d{4}|spring|summer|autumn|winter)(?:,? (?:of )?\d{4})?|"
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: \w+)?|on the \d{1,2}(?:st|nd|rd|th)|"
    r"on (?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}"
    r"(?:st|nd|rd|th)?(?:,? \d{4})?|on \d{4}-\d\d-\d\d|since [\w ]{3,20}|over the (?:weekend|summer|holidays)|"
    r"the other day|recently|lately|at \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?)"
)
OFTEN = (
    r"(?:every (?:single |other )?(?:morning|afternoon|evening|night|day|week|weekend|month|year|weekday|spring|summer|"
    r"autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|each (?:morning|evening|night|day|"
    r"week|"
    r"month|year)|(?:once|twice|three times|four times|five times|several times|a few times|\d+ (?:times|days)|"
    r"two days|"
    r"three days|four days|five days) (?:a|per|each) (?:day|week|month|year)|daily|weekly|monthly|on (?:week(?:days|"
    r"ends)|"
    r"mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)(?: and \w+days)?|in the (?:mornings?|evenings?)|"
    r"before (?:bed|work|breakfast)|after (?:work|dinner)|(?:regularly|religiously))"
)
# Words whose object is a subject of talk rather than a thing that one has a lasting feeling for.
_OBJECT = (
    r"(?!not to$)(?!(?:how|what|when|where|why|who|which|to (?:think|hear|see|know|say|help|believe|be able)|hearing|"
    r"seeing|"
    r"doing (?:so|that)|everything|anything|nothing|all|both|each|any|some|more|most|too|working with|"
    r"the(?! (?:outdoors|beach|ocean|sea|mountains|snow|rain|sun|cold|heat|city|countryside|forest|piano|guitar|violin|"
    r"feeling of|thrill of|smell of|taste of|sound of|sense of|freedom of|challenge of|atmosphere of|color|colour|"
    r"book|movie|film|band|game|series|show|novel)\b|"
    r" (?-i:[A-Z])))\b)(?=[\w\"'“‘])"
)
_VAGUE = (
    r"lot|bit|while|few|great|good|nice|lovely|blast|rough|hard|bad|tough|fun|amazing|awesome|wonderful|chance|look|"
    r"break|"
    r"time|feeling|point|moment|sense|step|deep|hold|difference|mess|start|little|ton|mind|way|hand|best|fantastic|"
    r"incredible|big|ride|idea|ideas|thing|things|crazy|real|hit|shot|stand|breather|leap|cool|wild|letdown|setback|"
    r"huge|new (?:addition|skill|way|pose|thing|level)|unexpected|accident|busy|fresh|better|super|really|pretty|"
    r"couple|bunch|at|major"
)
_EVENT_OBJECT = (
    r"(?!(?:in$|(?:the|this) (?:chat|room|call|meeting)|back|through|over|to (?:it|say|see|the point)|everything|"
    r"nothing|something|rid|sure|sense)\b)"
)


def _pattern(
    slot: Slot,
    kind: Kind,
    verbs: str,
    form: str,
    *,
    denial: bool = False,
    deniable: bool = True,
    of_others: bool = False,
) -> Pattern:
    form_of = re.compile(form, re.IGNORECASE)
    return Pattern(
        slot, kind, form_of, denial=denial, deniable=deniable, of_others=of_others, verbs=frozenset(verbs.split())
    )


_BE = "am is are 'm 's 're"
_HAVE = "have has own owns 've got"
_LIVE = "live lives reside resides"
_FACT, _CONSTRAINT, _PREFERENCE, _EVENT = Kind.FACT, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.EVENT
_TAIL = rf"(?:,? (?:{TIME}|{OFTEN}))*"
_PLANNED = (
    r"(?:flying|travell?ing|going|moving|heading|driving|starting|meeting|seeing|visiting|attending|leaving|getting|"
    r"having|taking|hosting|giving|presenting|running|running in|competing|performing|returning|joining|launching|"
    r"opening|switching|interviewing|graduating|planning|throwing|volunteering)"
)
_APPOINTMENT = (
    r"(?:[\w'’-]+ ){0,4}?(?:appointments?|meetings?|interviews?|exams?|tests?|flights?|games?|matchs?|match|"
    r"tournaments?|"
    r"competitions?|"
    r"deadlines?|surgery|operation|check-?ups?|presentations?|conferences?|weddings?|class|classes|lessons?|gigs?|"
    r"concerts?|shows?|trips?|reservations?|dates?|calls?|audition|recital|rehearsals?|workshops?|demo|party)"
)

STATES: tuple[Pattern, ...] = (
    _pattern(Slot.HEALTH, _CONSTRAINT, _BE, r"allergic to (?P<value>.{2,60})", of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT, f"{_HAVE} suffer suffers",
             rf"(?:from )?(?P<value>(?:an? )?(?:mild |severe |type [12] |chronic )?(?:{_ILLNESS})\b.{{0,40}})",
             of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT, _BE, r"(?:an? )?(?P<value>(?:type [12] )?diabetic|asthmatic|pregnant|"
             r"lactose[- ]intolerant|gluten[- ]intolerant|colou?r[- ]?blind|epileptic|immunocompromised|"
             r"h[a]?emophiliac|"
             r"celiac|coeliac|autistic|dyslexic|near-?sighted)(?: with .{2,30})?", of_others=True),
    _pattern(Slot.HEALTH, _CONSTRAINT, "was were been", r"(?:just )?diagnosed with (?P<value>.{2,60})", of_others=True),
    _pattern(Slot.MEDICATION, _CONSTRAINT, f"{_BE} take takes taking use uses",
             rf"(?:on |taking )?(?P<value>(?:\d+ ?mg (?:of )?)?(?:my )?(?:{_MEDICINE})\b.{{0,50}})", of_others=True),
    _pattern(Slot.DIET, _CONSTRAINT, _BE, r"(?:an? |on an? )?(?P<value>(?:strict |lifelong )?(?:vegetarian|vegan|"
             r"pescatarian|kosher|halal|keto|low-carb|gluten-free|dairy-free)(?: diet)?)", of_others=True),
    _pattern(Slot.RESIDENCE, _FACT, _LIVE, r"(?:together )?(?:in|on) (?P<value>(?!the moment|fear|hope|peace|"
             r"the past|an? "
             r"(?:world|society|time|bubble)|person|mind|your).{2,60})", of_others=True),
    _pattern(Slot.RESIDENCE, _FACT, _BE, r"(?:living|based) in (?P<value>(?!the moment|fear|hope|the past).{2,60})",
             of_others=True),
    _pattern(Slot.RESIDENCE, _FACT, "moved relocated", rf"(?:here )?to (?P<value>(?-i:[A-Z]).{{1,60}}?){_TAIL}",
             of_others=True, deniable=False),
    _pattern(Slot.ORIGIN, _FACT, _BE, r"(?:originally )?from (?P<value>(?-i:[A-Z])[\w .'’,-]{1,40})", of_others=True),
    _pattern(Slot.ORIGIN, _FACT, "was come comes grew", r"(?:born in|from|up in) (?P<value>(?-i:[A-Z]).{1,60})",
             of_others=True),
    _pattern(Slot.BIRTHDAY, _FACT, "was", r"born on (?P<value>.{3,30})", of_others=True),
    _pattern(Slot.JOB, _FACT, "work works",
             r"(?:part[- ]time |full[- ]time |remotely |freelance )?(?:at|for|as) (?P<value>(?!home|night|weekends|"
             r"hours|"
             r"least|first|free|the moment|a living|myself).{2,60})", of_others=True),
    _pattern(Slot.JOB, _FACT, "work works", r"in (?P<value>(?:marketing|finance|hr|sales|it|tech|healthcare|education|"
             r"construction|retail|publishing|consulting|logistics|insurance|banking|hospitality|advertising|"
             r"(?:a|an|the) .{3,40}))", of_others=True),
    _pattern(Slot.JOB, _FACT, _BE, r"(?:currently )?working (?:at|for|as) (?P<value>(?!home|the moment|free).{2,60})",
             of_others=True),
    _pattern(Slot.JOB, _FACT, _BE, rf"(?:an?|the) (?P<value>(?:[\w-]+ ){{0,3}}?(?:{_TRADE})\b(?: (?:at|for|in|by|from|"
             r"who|with) .{2,40})?)", of_others=True),
    _pattern(Slot.JOB, _FACT, "run runs", r"(?P<value>(?:an?|my own|a small) (?:[\w-]+ ){0,3}(?:company|business|shop|"
             r"store|studio|restaurant|bakery|cafe|café|agency|startup|farm|blog|podcast|gym|clinic|firm)\b.{0,40})",
             of_others=True),
    _pattern(Slot.EDUCATION, _FACT, "study studies studied major majors majored",
             rf"(?P<value>(?:in |at )?(?!are\b|is\b|have\b|hard|for|it\b|the\b|up\b|a lot|more|"
             rf"so\b){_SUBJECTS})", of_others=True),
    _pattern(Slot.EDUCATION, _FACT, _BE, rf"(?P<value>(?:studying|majoring in|pursuing an?|doing a (?:phd|"
             rf"master['’]?s)) "
             rf"(?!hard|for\b){_SUBJECTS})", of_others=True),
    _pattern(Slot.EDUCATION, _FACT, f"go goes went graduated attend attends attended {_BE}",
             rf"(?P<value>(?:to|from|in|at) (?:{_DEGREE}\b.{{0,40}}|(?-i:[A-Z])[\w ]{{0,30}}(?:University|College|"
             rf"School|"
             rf"Institute|Academy)\b.{{0,30}}|(?-i:MIT|UCLA|NYU|CMU|LSE|ETH|Oxford|Cambridge|Harvard|Stanford|Yale)\b"
             r".{0,40}))", of_others=True),
    _pattern(Slot.PET, _FACT, f"{_HAVE} adopted rescued", rf"(?:(?:a|an|one|two|three|four|five|six|\d+|another|no|"
             rf"any) )?"
             rf"(?P<value>(?!(?:liked|loved|seen|had|been|always|never|wanted|met|"
             rf"got)\b)(?:[\w-]+ ){{0,2}}?(?:{PETS})\b(?:,? (?:named|called|and|at home|who|"
             rf"from)\b.{{0,60}})?){_TAIL}",
             of_others=True),
    _pattern(Slot.FAMILY, _FACT, _HAVE,
             r"(?:(?:a|an|one|two|three|four|five|six|\d+|another|no|any) )?(?P<value>(?:[\w-]+ ){0,2}?(?:wife|"
             r"husband|"
             r"girlfriend|boyfriend|fianc[eé]e?|son|daughter|brother|sister|kids?|sons|daughters|brothers|sisters|"
             r"child|"
             r"children|twins|siblings?|cousins?|nephews?|nieces?|grandchildren|grandkids|grandson|granddaughter)\b"
             r"(?:,? (?:named|called|and|who|together|with)\b.{0,60})?)", of_others=True),
    _pattern(Slot.FAMILY, _FACT, _BE, r"(?P<value>(?:happily |recently |newly )?(?:married|divorced|single|engaged|"
             r"widowed)(?: (?:to|with) .{2,40})?)", of_others=True),
    _pattern(Slot.FAMILY, _FACT, _BE, r"(?P<value>(?:an only child|a (?:single )?(?:mom|mother|dad|father|parent)|"
             r"a twin|"
             r"a grandmother|a grandfather)(?: (?:of|to|with) .{2,40})?)", of_others=True),
    _pattern(Slot.AGE, _FACT, _BE, r"(?P<value>\d{1,3}(?: years old)?|(?:twenty|thirty|forty|fifty|sixty|seventy|"
             r"eighty)(?:-\w+)?(?: years old)?)", of_others=True),
    _pattern(Slot.NAME, _FACT, f"{_BE} go goes", r"(?:called|named|by) (?P<value>(?-i:[A-Z])[\w .'’-]{1,40})"),
    _pattern(Slot.LANGUAGE, _FACT, "speak speaks know knows learn learns can",
             rf"(?:speak )?(?:a (?:little|bit of) |some |fluent |both )?(?P<value>(?:{_LANGUAGES})\b[\w ,]{{0,40}})",
             of_others=True),
    _pattern(Slot.LANGUAGE, _FACT, _BE, rf"(?P<value>(?:learning|fluent in|bilingual in|studying) (?:{_LANGUAGES})\b"
             r"[\w ,]{0,40})", of_others=True),
    _pattern(Slot.SKILL, _FACT, "play plays", rf"(?P<value>(?:{_PLAYED})\b.{{0,50}})", of_others=True),
    _pattern(Slot.SKILL, _FACT, "can know", r"(?:how to )?(?P<value>(?:play|code|program|cook|bake|swim|dance|sew|knit|"
             r"draw|juggle|sing|drive|ski|surf)(?: (?!up|back|with)[\w ]{2,40})?)"),
    _pattern(Slot.SKILL, _FACT, _BE, r"(?P<value>(?:learning (?:to|how to) (?:play|cook|code|program|swim|dance|sew|"
             r"knit|"
             r"draw|paint|drive|ski|surf|bake|sing)\b.{0,50}|learning (?:the )?(?:guitar|piano|violin|drums|python|"
             r"rust|"
             r"javascript|java|go|react|sql|c\+\+|kotlin|swift|chess)\b.{0,40}|taking [\w ]{2,30} (?:lessons|classes)"
             r"\b.{0,40}))", of_others=True),
    _pattern(Slot.POSSESSION, _FACT, f"{_HAVE} drive drives bought ride rides",
             rf"(?P<value>(?:an?|two|three|my own|our own|\d+) (?:(?:[\w-]+ ){{0,3}}?(?:{_THINGS}))\b"
             rf"(?: (?:(?-i:[A-Z\d])[\w-]* ?)+)?(?:,? (?:with|from|called|named|in|on|at|for|and) .{{2,40}})?){_TAIL}",
             of_others=True),
    _pattern(Slot.JOB, _FACT, "left quit resigned", r"(?:from )?(?:my job (?:at|"
             r"with) )?(?P<value>(?-i:[A-Z][\w&.-]*(?: [A-Z][\w&.-]*){0,2}))" + _TAIL,
             denial=True, deniable=False, of_others=True),
    _pattern(Slot.FAMILY, _FACT, "got", r"(?P<value>(?:married|engaged|divorced)(?: (?:to|with) .{2,40})?)" + _TAIL,
             deniable=False, of_others=True),
    _pattern(Slot.HABIT, _CONSTRAINT, "quit stopped gave", r"(?:up )?(?P<value>(?:smoking|drinking|vaping|eating|"
             r"alcohol|coffee|"
             r"meat|sugar|caffeine|gluten|dairy|cigarettes|"
             r"gambling)\b.{0,40})", denial=True, deniable=False, of_others=True),
    _pattern(Slot.RELATION, Kind.RELATION, _BE, rf"(?P<value>(?:my|(?-i:[A-Z])[\w-]+['’]s) (?:\w+ )?(?:{KIN_FORM}|ex|"
             rf"supervisor|"
             r"landlord|assistant|team lead|lawyer|accountant))", of_others=True),
    _pattern(Slot.GOAL, _FACT, "want wants", r"to (?P<value>(?:become|be an?|learn (?!more)|open|start (?:my|a)|"
             r"move to|"
             r"visit|travel to|get (?:certified|a degree|my)|lose|gain|save|quit|retire|buy an?|write an?|run an?|"
             r"adopt) ?"
             r".{2,70})", of_others=True),
    _pattern(Slot.GOAL, _FACT, _BE, r"(?:saving(?: up)? for|training for|preparing for|studying for) "
             r"(?P<value>(?!it|that).{3,60})", of_others=True),
    _pattern(Slot.GOAL, _FACT, "am is are 'm 's 're hope hopes plan plans planning hoping decided intend aim",
             r"(?:(?:planning|hoping|aiming) (?:to|on)|to) (?P<value>(?!be (?:able|there|back|honest)|"
             r"have (?:fun|you)|see|hear|do\b|try|make sure|keep|get back|let|check|know|catch|stay|use|go with|"
             r"continue|"
             r"show|share|help|take a break|say|ask|talk|think|believe|be\b|give|find out|"
             r"hang out|chat|be more)[a-z]+ .{3,70})", of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, "like likes love loves enjoy enjoys adore adores prefer prefers",
             rf"{_OBJECT}(?P<value>.{{2,80}})", of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, _BE, rf"(?:a (?:big|huge|massive) fan of|really into|into|fond of|obsessed with|"
             rf"crazy about|passionate about|interested in|keen on) {_OBJECT}(?P<value>.{{2,60}})", of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, "hate hates dislike dislikes detest detests stand",
             rf"{_OBJECT}(?P<value>.{{2,80}})", denial=True, of_others=True),
    _pattern(Slot.LIKE, _PREFERENCE, _BE, rf"(?:afraid of|scared of|terrified of|sick of|tired of) {_OBJECT}"
             r"(?P<value>.{2,60})", denial=True, of_others=True),
    _pattern(Slot.HABIT, _FACT, "'ve have has", r"been (?P<value>(?!\w+ (?:on|at|in|with) (?:for|since))(?:doing|"
             r"practicing|practising|playing|learning|"
             r"studying|"
             r"working|running|painting|writing|training|reading|volunteering|collecting|dancing|teaching|cooking|"
             r"taking|"
             r"going|living|streaming|meditating|coding|gardening) .{0,50}?(?:for|since) .{2,30})", of_others=True),
    _pattern(Slot.HABIT, _FACT, "go goes run runs swim swims walk walks meditate meditates read reads cook cooks drink "
             "drinks eat eats exercise exercises train trains practice practise "
             "practices journal write writes visit visits "
             "volunteer volunteers attend attends play plays do does take takes "
             "wake wakes get gets have has work works "
             "teach teaches bike cycle cycles call calls watch watches "
             "ride rides jog jogs stretch bake bakes host hosts "
             "commute commutes travel travels hike hikes clean cleans post posts stream streams",
             rf"(?P<value>(?:[\w'’/-]+,? ){{0,9}}?{OFTEN}(?: (?:with|at|in|for|on|before|after|"
             rf"to) .{{0,30}})?)", of_others=True),
    _pattern(Slot.HABIT, _FACT, "smoke smokes vape drink drinks collect collects", rf"(?P<value>{_SUBJECTS})",
             of_others=True),
)  # fmt: skip

# Understood with "usually" and its like before the verb.
HABITS: tuple[Pattern, ...] = (
    _pattern(Slot.HABIT, _FACT, "go goes run runs swim swims walk walks meditate meditates "
             "read reads cook cooks drink drinks "
             "eat eats exercise exercises practice practise wake wakes "
             "get gets have has work works watch watches take takes "
             "spend spends play plays start starts commute commutes skip skips sleep sleeps order orders",
             r"(?!(?:been|to|a (?:hard|good|great|blast)|it|my back|so|too|"
             r"something)\b)(?P<value>(?:[\w'’/:-]+ ?){1,12})"),
)  # fmt: skip

# «can't eat X» and «don't eat X» are limits; «eat X» alone says too little.
LIMITS: tuple[Pattern, ...] = (
    _pattern(Slot.DIET, _CONSTRAINT, "eat eats drink drinks tolerate consume digest eating drinking",
             rf"(?:any )?{_OBJECT}(?P<value>(?!an? |the |to |time|enough|much|many|idea|clue|problem|issue|kids|"
             rf"children|"
             r"siblings|pets?|plans|access|experience|choice|energy|words|money|that|fun|reason|doubt|been|had|seen|"
             r"space|room|feelings|memories|class|work|school|specific|control|power|information|option|it\b|well|"
             r"right|out|"
             r"healthy|properly|breakfast out)[\w -]{2,50})", denial=True),
    _pattern(Slot.HABIT, _CONSTRAINT, "smoke smokes drive drives swim swims fly flies gamble",
             r"(?P<value>(?!out\b|for (?:me|you)|well|with|it\b|anymore|together|as\b|if\b|because\b)[\w ,-]{0,50})",
             denial=True),
    _pattern(Slot.HABIT, _CONSTRAINT, "wear wears work works use uses",
             r"(?P<value>(?:on (?:week|mon|tues|wednes|thurs|fri|satur|sun)[\w ]{2,30}|(?!out\b|for\b|well|with|it\b|"
             r"as\b|if\b|"
             r"because\b|properly|right|on\b|like\b|together)[a-z]{3,}[\w ,-]{0,40}))", denial=True),
)  # fmt: skip

EVENTS: tuple[Pattern, ...] = (
    _pattern(Slot.PLAN, _EVENT, f"{_BE} 'll will have has 've got need",
             rf"(?P<value>(?:(?:probably |definitely )?(?:{_PLANNED}|going to (?!be (?:able|ok|fine|great))[a-z]+|"
             rf"(?!be (?:there|ok|fine|able|sure)|have to|let|keep|try|make sure|check|get back|look|see\b)"
             rf"(?:fly|go|travel|move|visit|meet|start|attend|leave|have|take|host|run|compete|perform|return|join|"
             rf"see|pick|"
             rf"drive|be (?:in|at|away|out))"
             rf"|(?:an?|my|two|three) {_APPOINTMENT}) (?:.{{0,70}}? )??{TIME}(?: .{{0,40}})?|"
             rf"(?:an?|my) {_APPOINTMENT}(?: .{{0,40}}?)?,? {TIME}(?: .{{0,40}})?|{_PLANNED} {TIME}(?: .{{0,40}})?))",
             of_others=True, deniable=False),
    _pattern(Slot.EVENT, _EVENT, "went", rf"(?P<value>(?:(?:back )?to|on|for|with|out (?:to|for|with|on)|away|home|"
             rf"(?:[a-z]+ing)) ?{_EVENT_OBJECT}.{{2,100}})", of_others=True, deniable=False),
    _pattern(Slot.EVENT, _EVENT,
             "visited attended joined bought adopted graduated completed finished won passed failed celebrated donated "
             "volunteered performed hosted organized organised launched opened "
             "applied quit enrolled registered published "
             "released recorded sold hiked camped baked painted planted injured "
             "sprained fractured booked ordered signed "
             "travelled traveled flew participated interviewed resigned retired married divorced renovated rented "
             "competed auditioned submitted hired planned cooked",
             rf"(?P<value>{_EVENT_OBJECT}.{{2,100}})", of_others=True, deniable=False),
    _pattern(Slot.EVENT, _EVENT, "left lost met started broke received wrote read watched built took got made ran won "
             "played saw created gave tried learned moved found picked set made hurt had",
             rf"(?P<value>{_EVENT_OBJECT}(?:(?:up|off|in|out) )?(?:(?:an?|my|two|three|four|five|some|\d+|another) "
             rf"(?!(?:{_VAGUE})\b)[\w'’&-]+.{{2,90}}|"
             rf"(?:married|engaged|divorced|promoted|fired|laid off|accepted|certified|hired|vaccinated)\b.{{0,60}}|"
             rf"(?:learning|playing|working|taking|doing|writing|teaching|training|studying|volunteering|painting|"
             rf"reading|dancing) .{{2,80}}|part in .{{2,80}}|(?-i:[A-Z][a-z]).{{3,90}}|"
             rf"(?!an? (?:{_VAGUE})\b).{{3,80}} {TIME}))", of_others=True, deniable=False),
    _pattern(Slot.EVENT, _EVENT, "'ve have has", r"(?:recently |just |finally |"
             r"already )?(?P<value>(?!joined the (?:chat|call|room|meeting))(?:been to|visited|"
             r"joined|started|bought|moved|adopted|finished|completed|signed up|applied|quit|opened|launched|won|"
             r"decided to|read|taken up|enrolled|graduated|published) .{2,90})", of_others=True, deniable=False),
)  # fmt: skip

# "My … is …": what is said of a thing of the speaker's.
THINGS_SAID: dict[str, tuple[Slot, Kind]] = {
    "name": (Slot.NAME, _FACT), "full name": (Slot.NAME, _FACT), "first name": (Slot.NAME, _FACT),
    "last name": (Slot.NAME, _FACT), "nickname": (Slot.NAME, _FACT), "birthday": (Slot.BIRTHDAY, _FACT),
    "job": (Slot.JOB, _FACT), "occupation": (Slot.JOB, _FACT), "job title": (Slot.JOB, _FACT),
    "employer": (Slot.JOB, _FACT), "hometown": (Slot.ORIGIN, _FACT), "major": (Slot.EDUCATION, _FACT),
    "car": (Slot.POSSESSION, _FACT), "phone": (Slot.POSSESSION, _FACT), "laptop": (Slot.POSSESSION, _FACT),
    "blood type": (Slot.HEALTH, _CONSTRAINT), "hobby": (Slot.LIKE, _PREFERENCE), "hobbies": (Slot.LIKE, _PREFERENCE),
    "native language": (Slot.LANGUAGE, _FACT), "mother tongue": (Slot.LANGUAGE, _FACT), "goal": (Slot.GOAL, _FACT),
    "dream": (Slot.GOAL, _FACT), "dream job": (Slot.GOAL, _FACT), "flight": (Slot.PLAN, _FACT),
    "appointment": (Slot.PLAN, _FACT), "exam": (Slot.PLAN, _FACT), "interview": (Slot.PLAN, _FACT),
    "surgery": (Slot.PLAN, _FACT), "wedding": (Slot.PLAN, _FACT),
}  # fmt: skip

# What is said of work that is shared: "our project uses …", "the deadline of … is …".
SHARED = (
    r"project|team|company|startup|app|application|service|backend|frontend|api|website|site|repo|repository|product|"
    r"database|stack|codebase|pipeline|department|store|shop|office"
)
PROJECT = re.compile(
    r"(?:(?:mainly |currently |now |also )?(?:uses?|runs? on|is (?:written|built|deployed|hosted|based|"
    r"located) (?:in|on|with|at)|"
    r"is using|has switched to|switched to|migrated to|moved to|depends on|is called|is named|supports|targets)) "
    r"(?P<value>.{2,70})",
    re.IGNORECASE,
)
