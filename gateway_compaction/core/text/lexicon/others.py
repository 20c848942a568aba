"""The few words of languages in which no rules are looked for: Turkish, Polish, Vietnamese and more."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon

TURKISH = Lexicon(
    code="tr",
    name="Turkish",
    common_words=("ve bir bu için ile çok mi var gibi daha nasıl değil olarak bana benim ne mı"),
    nothing=(Entry(r"anladım|tamam|evet|hayır|hata"),),
    refusals=(
        Entry(r"üzgünüm\b"),
        Entry(r"özür dilerim\b"),
        Entry(r"maalesef\b"),
        Entry(r"bunu yapamam\b"),
    ),
    errors=(
        Entry(r"hata\s*+[:：]"),
        Entry(r"bir hata oluştu"),
    ),
    question_starts=(Entry(r"hangi\b"),),
)

POLISH = Lexicon(
    code="pl",
    name="Polish",
    common_words=("nie na się że to jest do jak ale co dla czy mogę mój jestem proszę mam w"),
    nothing=(Entry(r"rozumiem|tak|błąd"),),
    refusals=(
        Entry(r"nie jestem w stanie\b"),
        Entry(r"tego nie mogę\b"),
        Entry(r"przepraszam\b"),
        Entry(r"przykro mi\b"),
        Entry(r"niestety,? nie (?:mogę|jestem)\b"),
        Entry(r"nie mogę\b"),
        Entry(r"jako (?:model językowy|ai)\b"),
    ),
    errors=(
        Entry(r"błąd\s*+[:：]"),
        Entry(r"wystąpił błąd"),
    ),
    question_starts=(Entry(r"(?:jak|czy|co)\b"),),
)

VIETNAMESE = Lexicon(
    code="vi",
    name="Vietnamese",
    common_words=("là và của có không tôi cho một các được với trong này bạn"),
    nothing=(Entry(r"vâng|lỗi"),),
    refusals=(
        Entry(r"(?:tôi )?(?:rất )?(?:xin lỗi|tiếc)\b"),
        Entry(r"tôi không thể\b"),
    ),
    errors=(
        Entry(r"lỗi\s*+[:：]"),
        Entry(r"đã xảy ra lỗi"),
    ),
)

RUSSIAN = Lexicon(
    code="ru",
    name="Russian",
    script="Cyrillic",
    abbreviations=("т.е т.к г ул"),
    nothing=(Entry(r"да|нет|понял|понятно|хорошо|ошибка"),),
    refusals=(
        Entry(r"это я не могу\b"),
        Entry(r"не могу (?:помочь|обобщить|выполнить)"),
        Entry(r"извините"),
        Entry(r"простите"),
        Entry(r"к сожалению,? я\b"),
        Entry(r"я не могу\b"),
        Entry(r"как (?:языковая модель|ии)\b"),
    ),
    errors=(
        Entry(r"ошибка\s*+[:：]"),
        Entry(r"произошла ошибка"),
    ),
    question_starts=(Entry(r"(?:что|как|какую?|какой|какие|чем|могу|хотите|вы)\b"),),
    reader=(Entry(r"\b(?:вы|вам|вас)\b"),),
)

ARABIC = Lexicon(
    code="ar",
    name="Arabic",
    script="Arabic",
    nothing=(Entry(r"نعم|لا|حسنا|خطأ"),),
    refusals=(Entry(r"عذر|آسف|أعتذر|للأسف|لا أستطيع|لا يمكنني"),),
    errors=(
        Entry(r"خطأ\s*+:"),
        Entry(r"حدث خطأ"),
    ),
    question_starts=(Entry(r"(?:ماذا|كيف|هل|ما)\b"),),
)

HEBREW = Lexicon(
    code="he",
    name="Hebrew",
    script="Hebrew",
    nothing=(Entry(r"כן|לא|שגיאה"),),
    refusals=(Entry(r"(?:אני )?מצטער|סליחה|לצערי|אני לא יכול|איני יכול"),),
    errors=(
        Entry(r"שגיאה\s*+:"),
        Entry(r"אירעה שגיאה"),
    ),
    question_starts=(Entry(r"(?:מה|איך|האם)\b"),),
)

THAI = Lexicon(
    code="th",
    name="Thai",
    script="Thai",
    nothing=(Entry(r"ข้อผิดพลาด"),),
    refusals=(Entry(r"ขออภัย|ขอโทษ|ฉันไม่สามารถ|ผมไม่สามารถ"),),
    errors=(Entry(r"เกิดข้อผิดพลาด"),),
)

HINDI = Lexicon(
    code="hi",
    name="Hindi",
    script="Devanagari",
    nothing=(Entry(r"त्रुटि"),),
    refusals=(Entry(r"क्षमा|मुझे खेद|माफ़|माफ|मैं यह नहीं"),),
    errors=(Entry(r"(?:एक )?त्रुटि"),),
)

GREEK = Lexicon(
    code="el",
    name="Greek",
    script="Greek",
    nothing=(Entry(r"ναι|όχι|σφάλμα"),),
    refusals=(Entry(r"λυπάμαι|συγγνώμη|δυστυχώς,? δεν|δεν μπορώ"),),
    errors=(
        Entry(r"σφάλμα\s*+:"),
        Entry(r"παρουσιάστηκε σφάλμα"),
    ),
)
