"""The words of languages of which few are known: Turkish, Polish, Vietnamese and more."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon
from gateway_compaction.core.text.lexicon.rules.arabic import RULES as ARABIC_RULES
from gateway_compaction.core.text.lexicon.rules.polish import RULES as POLISH_RULES
from gateway_compaction.core.text.lexicon.rules.russian import RULES as RUSSIAN_RULES
from gateway_compaction.core.text.lexicon.rules.turkish import RULES as TURKISH_RULES

TURKISH = Lexicon(
    code="tr",
    name="Turkish",
    common_words=("ve bir bu için ile çok mi var gibi daha nasıl değil olarak bana benim ne mı"),
    rules=TURKISH_RULES,
    ages=(
        Entry(
            r"\d{1,3} \p{L}+ önce|dün",
            "3 gün önce",
            "3 gün",
        ),
    ),
    file_labels=(
        Entry(r"(?:dosya|belge|yol|kaynak|ek)\b|\S{0,4} ?(?:dosyasının )?içeriği", "Dosya", "Belgeler"),
    ),
    mail_headers=(Entry(r"Kimden|Gönderen|Kime|Alıcı|Bilgi|Gönderildi|Tarih|Konu", "Kimden", "Liman"),),
    source_labels=(
        Entry(
            r"(?:ara[çc]|komut|fonksiyon|işlev|dosya|arama|ajan)(?:ı)?(?:nın|nin|ın|in|un|ün)? (?:çıktısı"
            r"|sonucu|sonuçları|yanıtı|içeriği)\b|gözlem\b",
            "Araç çıktısı",
            "Sonuç",
        ),
    ),
    nothing=(Entry(r"anladım|tamam|evet|hayır|hata", "anladım", "Liman ofisi dokuzda açılıyor."),),
    refusals=(
        Entry(r"üzgünüm\b", "üzgünüm", "Liman ofisi dokuzda açılıyor."),
        Entry(r"özür dilerim\b", "özür dilerim", "Liman ofisi dokuzda açılıyor."),
        Entry(r"maalesef\b", "maalesef", "Liman ofisi dokuzda açılıyor."),
        Entry(r"bunu yapamam\b", "bunu yapamam", "Liman ofisi dokuzda açılıyor."),
    ),
    errors=(
        Entry(r"hata\s*+[:：]", "hata:", "Liman ofisi dokuzda açılıyor."),
        Entry(r"bir hata oluştu", "bir hata oluştu", "Liman ofisi dokuzda açılıyor."),
    ),
    question_starts=(Entry(r"hangi\b", "hangi", "Liman ofisi dokuzda açılıyor."),),
)

POLISH = Lexicon(
    code="pl",
    name="Polish",
    common_words=("nie na się że to jest do jak ale co dla czy mogę mój jestem proszę mam w"),
    rules=POLISH_RULES,
    ages=(
        Entry(
            r"\d{1,3} \p{L}+ temu|wczoraj",
            "3 dni temu",
            "3 dni",
        ),
    ),
    file_labels=(
        Entry(r"(?:plik|dokument|ścieżka|źródło|załącznik)\b|(?:zawartość|treść)\b", "Plik", "Pliki"),
    ),
    mail_headers=(Entry(r"Od|Do|DW|Wysłano|Data|Temat", "Temat", "Port"),),
    source_labels=(
        Entry(
            r"(?:wyniki?|wyjście|odpowiedź|zawartość|raport)\s(?:[^:\n]{0,20}\s)?(?:narzędzia"
            r"|polecenia|funkcji|pliku|programu|agenta|wyszukiwania)\b|obserwacja\b",
            "Wynik narzędzia",
            "Wynik",
        ),
    ),
    nothing=(Entry(r"rozumiem|tak|błąd", "rozumiem", "Biuro portu otwiera się o dziewiątej."),),
    refusals=(
        Entry(r"nie jestem w stanie\b", "nie jestem w stanie", "Biuro portu otwiera się o dziewiątej."),
        Entry(r"tego nie mogę\b", "tego nie mogę", "Biuro portu otwiera się o dziewiątej."),
        Entry(r"przepraszam\b", "przepraszam", "Biuro portu otwiera się o dziewiątej."),
        Entry(r"przykro mi\b", "przykro mi", "Biuro portu otwiera się o dziewiątej."),
        Entry(
            r"niestety,? nie (?:mogę|jestem)\b",
            "niestety nie jestem",
            "Biuro portu otwiera się o dziewiątej.",
        ),
        Entry(r"nie mogę\b", "nie mogę", "Biuro portu otwiera się o dziewiątej."),
        Entry(
            r"jako (?:model językowy|ai)\b", "jako model językowy", "Biuro portu otwiera się o dziewiątej."
        ),
    ),
    errors=(
        Entry(r"błąd\s*+[:：]", "błąd:", "Biuro portu otwiera się o dziewiątej."),
        Entry(r"wystąpił błąd", "wystąpił błąd", "Biuro portu otwiera się o dziewiątej."),
    ),
    question_starts=(Entry(r"(?:jak|czy|co)\b", "czy", "Biuro portu otwiera się o dziewiątej."),),
)

VIETNAMESE = Lexicon(
    code="vi",
    name="Vietnamese",
    common_words=("là và của có không tôi cho một các được với trong này bạn"),
    nothing=(Entry(r"vâng|lỗi", "vâng", "Văn phòng cảng mở cửa lúc chín giờ."),),
    refusals=(
        Entry(r"(?:tôi )?(?:rất )?(?:xin lỗi|tiếc)\b", "xin lỗi", "Văn phòng cảng mở cửa lúc chín giờ."),
        Entry(r"tôi không thể\b", "tôi không thể", "Văn phòng cảng mở cửa lúc chín giờ."),
    ),
    errors=(
        Entry(r"lỗi\s*+[:：]", "lỗi:", "Văn phòng cảng mở cửa lúc chín giờ."),
        Entry(r"đã xảy ra lỗi", "đã xảy ra lỗi", "Văn phòng cảng mở cửa lúc chín giờ."),
    ),
)

RUSSIAN = Lexicon(
    code="ru",
    name="Russian",
    script="Cyrillic",
    abbreviations=("т.е т.к г ул"),
    rules=RUSSIAN_RULES,
    ages=(
        Entry(
            r"\d{1,3} \p{L}+ назад|вчера",
            "3 дня назад",
            "3 дня",
        ),
    ),
    file_labels=(Entry(r"(?:файл|документ|путь|источник|вложение)\b|содержимое\b", "Файл", "Файлы"),),
    mail_headers=(Entry(r"От|От кого|Кому|Копия|Отправлено|Дата|Тема", "Кому", "Порт"),),
    source_labels=(
        Entry(
            # Ukrainian ones too: its rules are told by this grammar.
            r"(?:результати?|вивід|відповідь|вміст|звіт)\s(?:[^:\n]{0,20}\s)?(?:інструмент[ау]"
            r"|команди|функції|файлу|програми|агента|пошуку)\b"
            r"|(?:результаты?|вывод|ответ|содержимое|отч[её]т)\s(?:[^:\n]{0,20}\s)?(?:инструмента"
            r"|команды|функции|файла|программы|агента|поиска)\b|наблюдение\b",
            "Результат инструмента",
            "Результат",
        ),
    ),
    nothing=(
        Entry(r"да|нет|понял|понятно|хорошо|ошибка", "понятно", "Портовая контора открывается в девять."),
    ),
    refusals=(
        Entry(r"это я не могу\b", "это я не могу", "Портовая контора открывается в девять."),
        Entry(
            r"не могу (?:помочь|обобщить|выполнить)",
            "не могу выполнить",
            "Портовая контора открывается в девять.",
        ),
        Entry(r"извините", "извините", "Портовая контора открывается в девять."),
        Entry(r"простите", "простите", "Портовая контора открывается в девять."),
        Entry(r"к сожалению,? я\b", "к сожалению я", "Портовая контора открывается в девять."),
        Entry(r"я не могу\b", "я не могу", "Портовая контора открывается в девять."),
        Entry(
            r"как (?:языковая модель|ии)\b", "как языковая модель", "Портовая контора открывается в девять."
        ),
    ),
    errors=(
        Entry(r"ошибка\s*+[:：]", "ошибка：", "Портовая контора открывается в девять."),
        Entry(r"произошла ошибка", "произошла ошибка", "Портовая контора открывается в девять."),
    ),
    question_starts=(
        Entry(
            r"(?:что|как|какую?|какой|какие|чем|могу|хотите|вы)\b",
            "хотите",
            "Портовая контора открывается в девять.",
        ),
    ),
    reader=(Entry(r"\b(?:вы|вам|вас)\b", "вам", "Портовая контора открывается в девять."),),
)

ARABIC = Lexicon(
    code="ar",
    name="Arabic",
    script="Arabic",
    rules=ARABIC_RULES,
    ages=(
        Entry(
            r"(?:منذ|قبل) \d{1,3} \p{L}+|أمس",
            "منذ 3 أيام",
            "3 أيام",
        ),
    ),
    file_labels=(Entry(r"(?:الملف|ملف|المستند|مستند|المسار|المصدر|المرفق)|محتوى", "ملف", "رسالة"),),
    mail_headers=(Entry(r"من|إلى|نسخة|تاريخ الإرسال|التاريخ|الموضوع", "الموضوع", "الميناء"),),
    source_labels=(
        Entry(
            r"(?:نتيجة|نتائج|مخرجات|محتوى|رد) (?:الأداة|الأمر|الدالة|الملف|البرنامج|الوكيل|البحث)"
            r"|الملاحظة",
            "نتيجة الأداة",
            "النتيجة",
        ),
    ),
    nothing=(Entry(r"نعم|لا|حسنا|خطأ", "حسنا", "يفتح مكتب الميناء في التاسعة."),),
    refusals=(
        Entry(r"عذر|آسف|أعتذر|للأسف|لا أستطيع|لا يمكنني", "لا أستطيع", "يفتح مكتب الميناء في التاسعة."),
    ),
    errors=(
        Entry(r"خطأ\s*+:", "خطأ:", "يفتح مكتب الميناء في التاسعة."),
        Entry(r"حدث خطأ", "حدث خطأ", "يفتح مكتب الميناء في التاسعة."),
    ),
    question_starts=(Entry(r"(?:ماذا|كيف|هل|ما)\b", "ماذا", "يفتح مكتب الميناء في التاسعة."),),
)

HEBREW = Lexicon(
    code="he",
    name="Hebrew",
    script="Hebrew",
    nothing=(Entry(r"כן|לא|שגיאה", "שגיאה", "המשרד בנמל נפתח בתשע."),),
    refusals=(
        Entry(r"(?:אני )?מצטער|סליחה|לצערי|אני לא יכול|איני יכול", "אני לא יכול", "המשרד בנמל נפתח בתשע."),
    ),
    errors=(
        Entry(r"שגיאה\s*+:", "שגיאה:", "המשרד בנמל נפתח בתשע."),
        Entry(r"אירעה שגיאה", "אירעה שגיאה", "המשרד בנמל נפתח בתשע."),
    ),
    question_starts=(Entry(r"(?:מה|איך|האם)\b", "איך", "המשרד בנמל נפתח בתשע."),),
)

THAI = Lexicon(
    code="th",
    name="Thai",
    script="Thai",
    nothing=(Entry(r"ข้อผิดพลาด", "ข้อผิดพลาด", "สำนักงานท่าเรือเปิดเก้าโมง"),),
    refusals=(Entry(r"ขออภัย|ขอโทษ|ฉันไม่สามารถ|ผมไม่สามารถ", "ฉันไม่สามารถ", "สำนักงานท่าเรือเปิดเก้าโมง"),),
    errors=(Entry(r"เกิดข้อผิดพลาด", "เกิดข้อผิดพลาด", "สำนักงานท่าเรือเปิดเก้าโมง"),),
)

HINDI = Lexicon(
    code="hi",
    name="Hindi",
    script="Devanagari",
    nothing=(Entry(r"त्रुटि", "त्रुटि", "बंदरगाह कार्यालय नौ बजे खुलता है।"),),
    refusals=(Entry(r"क्षमा|मुझे खेद|माफ़|माफ|मैं यह नहीं", "मैं यह नहीं", "बंदरगाह कार्यालय नौ बजे खुलता है।"),),
    errors=(Entry(r"(?:एक )?त्रुटि", "त्रुटि", "बंदरगाह कार्यालय नौ बजे खुलता है।"),),
)

GREEK = Lexicon(
    code="el",
    name="Greek",
    script="Greek",
    nothing=(Entry(r"ναι|όχι|σφάλμα", "σφάλμα", "Το γραφείο του λιμανιού ανοίγει στις εννέα."),),
    refusals=(
        Entry(
            r"λυπάμαι|συγγνώμη|δυστυχώς,? δεν|δεν μπορώ",
            "δυστυχώς δεν",
            "Το γραφείο του λιμανιού ανοίγει στις εννέα.",
        ),
    ),
    errors=(
        Entry(r"σφάλμα\s*+:", "σφάλμα:", "Το γραφείο του λιμανιού ανοίγει στις εννέα."),
        Entry(r"παρουσιάστηκε σφάλμα", "παρουσιάστηκε σφάλμα", "Το γραφείο του λιμανιού ανοίγει στις εννέα."),
    ),
)
