"""Languages that are related to others, or share their script: never another one is named."""

from __future__ import annotations

import itertools

import pytest

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.summary.block import FrameSettings, build_frame
from gateway_compaction.core.summary.prompts import ShownLimit, SummaryBrief, build_prompt
from gateway_compaction.core.text.language import (
    NAMES,
    TRADITIONAL,
    UNNAMED,
    detect_conversation_language,
    detect_language,
    get_phrases,
    load_classifier,
    name_language,
)
from tests.core.test_language import ORDINARY, SAID, assistant, user

SPOKEN: dict[str, tuple[str, ...]] = {
    "uk": (
        "Чи можеш сказати, коли прийде моє замовлення і скільки я за нього заплатила?",
        "Видали стару конфігурацію і запусти тести ще раз перед злиттям.",
        "На моїй машині це не працює, збірка зупиняється з помилкою.",
    ),
    "be": (
        "Ці можаш сказаць, калі прыйдзе мая замова і колькі я за яе заплаціла?",
        "Выдалі старую канфігурацыю і запусці тэсты яшчэ раз перад зліццём.",
        "На маёй машыне гэта не працуе, зборка спыняецца з памылкай.",
    ),
    "bg": (
        "Можеш ли да ми кажеш кога ще пристигне поръчката ми и колко съм платил за нея?",
        "Премахни старата конфигурация и пусни тестовете отново преди сливането.",
        "На моята машина не работи, компилацията спира с грешка.",
    ),
    "sr": (
        "Можеш ли да ми кажеш када стиже моја поруџбина и колико сам платио?",
        "Уклони стару конфигурацију и поново покрени тестове пре спајања.",
        "На мојој машини не ради, изградња се зауставља са грешком.",
    ),
    "mk": (
        "Можеш ли да ми кажеш кога ќе пристигне мојата нарачка и колку платив за неа?",
        "Отстрани ја старата конфигурација и пушти ги тестовите повторно пред спојувањето.",
        "На мојата машина не работи, градењето запира со грешка.",
    ),
    "kk": (
        "Менің тапсырысым қашан келетінін және қанша төлегенімді айта аласың ба?",
        "Ескі конфигурацияны алып тастап, біріктірмес бұрын сынақтарды қайта іске қос.",
        "Менің компьютерімде жұмыс істемейді, құрастыру қатемен тоқтайды.",
    ),
    "mn": (
        "Миний захиалга хэзээ ирэх, би хэдэн төгрөг төлсөн бэ гэдгийг хэлж өгөөч?",
        "Хуучин тохиргоог устгаад нэгтгэхийн өмнө тестийг дахин ажиллуул.",
        "Миний компьютер дээр ажиллахгүй байна, алдаа гараад зогсчихлоо.",
    ),
    "fa": (
        "می‌توانی بگویی سفارش من چه زمانی می‌رسد و چقدر برای آن پرداخت کرده‌ام؟",
        "تنظیمات قدیمی را حذف کن و قبل از ادغام دوباره آزمون‌ها را اجرا کن.",
        "روی دستگاه من کار نمی‌کند، ساخت با خطا متوقف می‌شود.",
    ),
    "ur": (
        "کیا آپ مجھے بتا سکتے ہیں کہ میرا آرڈر کب پہنچے گا اور میں نے کتنے پیسے دیے؟",
        "پرانی ترتیب ہٹا دیں اور ضم کرنے سے پہلے ٹیسٹ دوبارہ چلائیں۔",
        "یہ میری مشین پر کام نہیں کرتا، تعمیر ایک خرابی کے ساتھ رک جاتی ہے۔",
    ),
    "ps": (
        "ایا ته کولی شې ووایې چې زما فرمایش به کله راورسېږي او ما څومره پیسې ورکړې دي؟",
        "زاړه امستنې لرې کړه او د یوځای کولو دمخه ازموینې بیا وچلوه.",
    ),
    "ckb": (
        "دەتوانی پێم بڵێیت داواکارییەکەم کەی دەگات و چەندم پارە داوە؟",
        "ڕێکخستنە کۆنەکان بسڕەوە و پێش تێکەڵکردن تاقیکردنەوەکان دووبارە بکەرەوە.",
    ),
    "yi": ("קענסטו מיר זאָגן ווען מײַן באַשטעלונג וועט אָנקומען און וויפֿל איך האָב באַצאָלט?",),
    "mr": (
        "माझी ऑर्डर कधी येईल आणि मी किती पैसे दिले हे तू सांगू शकतोस का?",
        "जुने कॉन्फिगरेशन काढून टाक आणि विलीन करण्यापूर्वी चाचण्या पुन्हा चालव.",
        "हे माझ्या संगणकावर चालत नाही, बिल्ड त्रुटीसह थांबते.",
    ),
    "ne": (
        "मेरो अर्डर कहिले आइपुग्छ र मैले कति तिरेको छु भन्न सक्नुहुन्छ?",
        "पुरानो कन्फिगरेसन हटाउनुहोस् र मर्ज गर्नु अघि परीक्षणहरू फेरि चलाउनुहोस्।",
    ),
    "zh-Hant": (
        "你能告訴我我的訂單什麼時候到，我付了多少錢嗎？",
        "請刪除舊的設定，在合併之前重新執行測試。",
        "在我的機器上不行，建置時出錯停止了。",
    ),
    "yue": (
        "你可唔可以話畀我知我張單幾時到，同埋我俾咗幾多錢？",
        "唔該刪咗舊嗰個設定，合併之前再跑多次測試。",
        "喺我部機度唔得，build 嘅時候出錯停咗。",
    ),
    "da": (
        "Kan du fortælle mig, hvornår min ordre kommer, og hvor meget jeg har betalt for den?",
        "Fjern den gamle konfiguration og kør testene igen, før vi fletter.",
        "Det virker ikke på min maskine, bygningen stopper med en fejl.",
    ),
    "no": (
        "Kan du fortelle meg når bestillingen min kommer, og hvor mye jeg har betalt for den?",
        "Fjern den gamle konfigurasjonen og kjør testene på nytt før vi slår sammen.",
        "Det fungerer ikke på maskinen min, bygget stopper med en feil.",
    ),
    "sv": (
        "Kan du säga när min beställning kommer och hur mycket jag har betalat för den?",
        "Ta bort den gamla konfigurationen och kör testerna igen innan vi slår ihop.",
        "Det fungerar inte på min dator, bygget stannar med ett fel.",
    ),
    "is": (
        "Geturðu sagt mér hvenær pöntunin mín kemur og hvað ég hef borgað mikið fyrir hana?",
        "Fjarlægðu gömlu stillingarnar og keyrðu prófin aftur áður en við sameinum.",
    ),
    "fi": (
        "Voitko kertoa, milloin tilaukseni saapuu ja kuinka paljon olen maksanut siitä?",
        "Poista vanha asetus ja aja testit uudelleen ennen yhdistämistä.",
        "Se ei toimi koneellani, koontiversio pysähtyy virheeseen.",
    ),
    "et": (
        "Kas sa saad öelda, millal mu tellimus saabub ja kui palju ma selle eest maksin?",
        "Eemalda vana seadistus ja käivita testid enne ühendamist uuesti.",
    ),
    "hu": (
        "Meg tudod mondani, mikor érkezik meg a rendelésem, és mennyit fizettem érte?",
        "Töröld a régi beállítást, és futtasd újra a teszteket az egyesítés előtt.",
        "Nálam nem működik, a fordítás hibával leáll.",
    ),
    "cs": (
        "Můžeš mi říct, kdy dorazí moje objednávka a kolik jsem za ni zaplatil?",
        "Odstraň starou konfiguraci a spusť testy znovu, než to sloučíme.",
        "Na mém počítači to nefunguje, sestavení skončí s chybou.",
    ),
    "sk": (
        "Môžeš mi povedať, kedy príde moja objednávka a koľko som za ňu zaplatil?",
        "Odstráň starú konfiguráciu a spusti testy znova, skôr ako to zlúčime.",
        "Na mojom počítači to nefunguje, zostavenie skončí s chybou.",
    ),
    "sl": (
        "Mi lahko poveš, kdaj pride moje naročilo in koliko sem plačal zanj?",
        "Odstrani staro nastavitev in ponovno zaženi teste, preden združimo.",
    ),
    "hr": (
        "Možeš li mi reći kada stiže moja narudžba i koliko sam platio?",
        "Ukloni staru konfiguraciju i ponovno pokreni testove prije spajanja.",
        "Na mom računalu ne radi, izgradnja se zaustavlja s pogreškom.",
    ),
    "sr-Latn": (
        "Možeš li da mi kažeš kada stiže moja porudžbina i koliko sam platio?",
        "Ukloni staru konfiguraciju i ponovo pokreni testove pre spajanja.",
    ),
    "lt": (
        "Ar gali pasakyti, kada atkeliaus mano užsakymas ir kiek už jį sumokėjau?",
        "Pašalink seną konfigūraciją ir prieš suliedamas dar kartą paleisk testus.",
    ),
    "lv": (
        "Vai vari pateikt, kad pienāks mans pasūtījums un cik es par to samaksāju?",
        "Noņem veco konfigurāciju un pirms apvienošanas palaid testus vēlreiz.",
    ),
    "ro": (
        "Poți să-mi spui când o să ajungă comanda mea și cât am plătit pentru ea?",
        "Șterge vechea configurație și rulează testele din nou înainte de îmbinare.",
        "Nu merge pe calculatorul meu, compilarea se oprește cu o eroare.",
    ),
    "ca": (
        "Em pots dir quan arribarà la meva comanda i quant n'he pagat?",
        "Elimina la configuració antiga i torna a executar les proves abans de fusionar.",
        "No funciona a la meva màquina, la compilació s'atura amb un error.",
    ),
    "gl": (
        "Podes dicirme cando chegará o meu pedido e canto paguei por el?",
        "Elimina a configuración antiga e volve executar as probas antes de fusionar.",
        "Non funciona na miña máquina, a compilación detense cun erro.",
    ),
    "eu": (
        "Esan diezadakezu noiz iritsiko den nire eskaera eta zenbat ordaindu dudan?",
        "Kendu konfigurazio zaharra eta exekutatu probak berriro bateratu aurretik.",
    ),
    "sq": (
        "A mund të më thuash kur do të vijë porosia ime dhe sa kam paguar për të?",
        "Hiqe konfigurimin e vjetër dhe ekzekuto testet përsëri para bashkimit.",
    ),
    "id": (
        "Bisakah kamu memberi tahu kapan pesanan saya tiba dan berapa yang sudah saya bayar?",
        "Hapus konfigurasi lama dan jalankan lagi pengujian sebelum digabungkan.",
        "Tidak bisa di komputer saya, proses build berhenti dengan kesalahan.",
    ),
    "ms": (
        "Bolehkah anda beritahu bila pesanan saya akan sampai dan berapa yang telah saya bayar?",
        "Buang konfigurasi lama dan jalankan semula ujian sebelum digabungkan.",
        "Ia tidak berfungsi pada komputer saya, binaan terhenti dengan ralat.",
    ),
    "tl": (
        "Pwede mo bang sabihin kung kailan darating ang order ko at magkano ang binayaran ko?",
        "Tanggalin ang lumang configuration at patakbuhin ulit ang mga test bago pagsamahin.",
    ),
    "sw": (
        "Unaweza kuniambia agizo langu litafika lini na nimelipa kiasi gani?",
        "Ondoa usanidi wa zamani na uendeshe majaribio tena kabla ya kuunganisha.",
    ),
    "af": (
        "Kan jy my sê wanneer my bestelling aankom en hoeveel ek daarvoor betaal het?",
        "Verwyder die ou konfigurasie en laat loop die toetse weer voor ons saamvoeg.",
    ),
    "lb": ("Kanns du mir soen, wéini meng Bestellung ukënnt a wéivill ech bezuelt hunn?",),
    "az": (
        "Sifarişimin nə vaxt gələcəyini və nə qədər ödədiyimi deyə bilərsən?",
        "Köhnə konfiqurasiyanı sil və birləşdirmədən əvvəl testləri yenidən işə sal.",
    ),
    "uz": (
        "Buyurtmam qachon yetib kelishini va qancha to'laganimni ayta olasizmi?",
        "Eski sozlamani olib tashlang va birlashtirishdan oldin testlarni qayta ishga tushiring.",
    ),
    "eo": ("Ĉu vi povas diri al mi, kiam alvenos mia mendo kaj kiom mi pagis por ĝi?",),
    "la": ("Potesne mihi dicere quando mandatum meum perveniat et quantum pro eo solverim?",),
    "cy": ("Allwch chi ddweud wrthyf pryd fydd fy archeb yn cyrraedd a faint rwyf wedi'i dalu?",),
    "ga": ("An féidir leat a rá liom cathain a thiocfaidh m'ordú agus cé mhéad a d'íoc mé?",),
    "ht": ("Èske ou ka di m kilè kòmand mwen an ap rive ak konbyen mwen peye pou li?",),
    "bn": (
        "আমার অর্ডার কখন আসবে এবং আমি কত টাকা দিয়েছি বলতে পারবেন?",
        "পুরানো কনফিগারেশন মুছে ফেলুন এবং মার্জ করার আগে আবার পরীক্ষা চালান।",
    ),
    "ta": ("என் ஆர்டர் எப்போது வரும், நான் எவ்வளவு பணம் செலுத்தினேன் என்று சொல்ல முடியுமா?",),
    "ka": ("შეგიძლია მითხრა, როდის მოვა ჩემი შეკვეთა და რამდენი გადავიხადე?",),
    "hy": ("Կարո՞ղ ես ասել, թե երբ կգա իմ պատվերը և որքան եմ վճարել դրա համար։",),
    "lo": ("ເຈົ້າບອກຂ້ອຍໄດ້ບໍວ່າຄຳສັ່ງຊື້ຂອງຂ້ອຍຈະມາຮອດເມື່ອໃດ ແລະ ຂ້ອຍຈ່າຍໄປເທົ່າໃດ?",),
}
"""What people ask a shop and a colleague, by language; none of these is of the lexicon's languages."""

ACCEPTED = {"zh-Hant": TRADITIONAL, "sr-Latn": "sr"}
# Languages of which whole conversations in them are told for sure.
SURE = (
    "uk be bg sr mk kk mn fa ur ps mr ne bn ta ka hy lo zh-Hant yue da no sv is fi et hu cs sk sl lt lv ro"
    " ca gl eu sq tl sw af az uz cy ga"
).split()


def right(code: str) -> set[str | None]:
    """Everything that may be said of a text in a language: itself, or nothing."""
    return {ACCEPTED.get(code, code), None}


def talk(code: str, answer: str = "") -> list[Message]:
    """A conversation in a language; ``answer`` takes the place of the assistant's own."""
    said = SPOKEN[code]
    return [m for one in said for m in (user(one), assistant(answer or said[-1]))] * 4


def order(messages: list[Message]) -> str:
    """What a summariser is asked about a conversation."""
    return build_prompt(messages, "", 0, SummaryBrief("all", 50), ShownLimit(900), len)[1]


@pytest.mark.parametrize("code", SPOKEN)
def test_never_another_one_is_named(code: str) -> None:
    for count in range(1, len(SPOKEN[code]) + 1):
        for said in itertools.combinations(SPOKEN[code], count):
            assert detect_language(said) in right(code), said
            assert detect_language([" ".join(said).upper()]) in right(code), said
            assert detect_language([*said, "def f(x): return x", "pip install foo"]) in right(code), said


@pytest.mark.parametrize("code", SPOKEN)
def test_a_summary_is_ordered_in_the_language_itself_or_that_of_the_conversation(code: str) -> None:
    wanted = {f"Write in {NAMES.get(one or '', UNNAMED)}," for one in right(code)}
    assert any(text in order(talk(code)) for text in wanted)


@pytest.mark.parametrize("code", SURE)
def test_a_conversation_is_told_by_its_name(code: str) -> None:
    found = detect_conversation_language(talk(code))
    assert found == ACCEPTED.get(code, code) and found in NAMES


@pytest.mark.parametrize("code", SPOKEN)
def test_the_note_is_of_no_other_language(code: str) -> None:
    frame = build_frame(talk(code), 600, FrameSettings(rule_tokens=0), len)
    assert frame.lines[0] == get_phrases("en").note


@pytest.mark.parametrize("code", SPOKEN)
def test_an_assistant_who_answers_in_english_does_not_make_it_english(code: str) -> None:
    assert detect_conversation_language(talk(code, SAID["en"] * 3)) in right(code)


@pytest.mark.parametrize("code", ORDINARY)
def test_single_sentences_of_the_lexicons_languages_are_never_another(code: str) -> None:
    for said in ORDINARY[code]:
        assert detect_language([said]) in (code, None), said


def test_users_who_say_too_little_speak_as_they_are_answered() -> None:
    assert detect_conversation_language([user("ok"), assistant(" ".join(SPOKEN["ro"]))]) == "ro"
    assert detect_conversation_language([user("git status"), assistant(SAID["de"])]) == "de"


class TestChinese:
    """The two ways to write it, and Cantonese."""

    def test_both_are_told_by_their_characters(self) -> None:
        assert detect_language([SAID["zh"]]) == "zh"
        assert detect_language(SPOKEN["zh-Hant"]) == TRADITIONAL

    def test_what_both_share_is_chinese(self) -> None:
        assert detect_language(["他在中文大學的中心工作，明天早上八点半到。"]) in ("zh", TRADITIONAL, None)

    def test_traditional_characters_get_no_note_in_simplified_ones(self) -> None:
        assert get_phrases(TRADITIONAL) == get_phrases("yue") == get_phrases("en") != get_phrases("zh")


def test_in_doubt_the_order_names_no_language() -> None:
    assert f"Write in {UNNAMED}," in order([user("ok"), assistant("0815")])
    assert name_language(None) == name_language("xx") == UNNAMED


def test_a_long_quote_at_the_beginning_does_not_decide() -> None:
    assert detect_language([SAID["en"] * 12, *[SAID["de"]] * 60]) == "de"


def test_every_further_name_is_one_that_the_classifier_knows() -> None:
    known = {*load_classifier().labels, TRADITIONAL}
    assert set(NAMES) <= known
