"""The words by which standing rules are told in Turkish."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

RULES = RuleWords(
    anywhere=True,
    orders=(
        Entry(
            r"\b(?:yanıtla|cevapla|cevap ver|yanıt ver|yaz|kullan|göster|söyle|hitap et|belirt|ekle|yuvarla"
            r"|sor|öner|çevir|açıkla|alıntıla|uyar|başla|bitir|tut|ol|konuş|listele|kontrol et|de)(?:in|ın"
            r"|un|ün|yin|yın|iniz|ınız|unuz|ünüz|yiniz|yınız)?\W*$",
            "Kısa cevap ver.",
            "Kısa cevap verdi.",
        ),
        Entry(
            r"\b\p{L}+(?:malı|meli)(?:sın|sin|sınız|siniz|dır|dir)?\W*$|\bgerek(?:iyor|ir)?\W*$",
            "Fiyatlar vergi dahil olmalı.",
            "Fiyatlar arttı.",
        ),
    ),
    bans=(
        Entry(
            r"\b(?!endişelen|merak et|üzül|korkma|unutma)\p{L}{2,}(?:ma|me)(?:yın|yin|yınız"
            r"|yiniz)?\W*$(?<!olma\W)(?<!deneme\W)(?<!etme\W)(?<!endişelenme\W)(?<!üzülme\W)(?<!unutma\W)",
            "Emoji kullanma.",
            "Emoji kullandı.",
        ),
        Entry(
            r"\b\p{L}+(?:mamalı|memeli)(?:sın|sin)?\b|\b(?:kaçın|yasak|yasaktır)\W*$|\b(?:asla"
            r"|kesinlikle) \p{L}[^.!?]*(?:ma|me)(?:yın|yin)?\W*$",
            "Jargondan kaçın.",
            "Jargondan kaçındı.",
        ),
    ),
    wishes=(
        Entry(
            r"\b(?:istiyorum|tercih ederim|rica ederim|isterim)\b|\blütfen\b",
            "Kısa yanıtları tercih ederim.",
            "Eve gidiyorum.",
        ),
    ),
    lasting=(
        Entry(
            r"\b(?:her zaman|daima|asla|hiçbir zaman|hep|bundan sonra|bundan böyle|artık|her seferinde"
            r"|varsayılan olarak|hiçbir koşulda|kesinlikle|sürekli)\b|\b(?:her|tüm|bütün) (?:yanıt|cevap"
            r"|mesaj|fiyat|tarih|cevab|yanıtlar|cevaplar|fiyatlar|tarihler)\p{L}*|\bbu (?:sohbette"
            r"|konuşmada|projede)\b|\b(?:iznim|onayım) olmadan\b",
            "her zaman",
            "dün akşam",
        ),
    ),
    manner=(
        Entry(
            r"\b(?:metrik|euro|lira|vergi\p{L}*|kdv|kısa|kısaca|ayrıntılı|kibar\p{L}*|resmi|samimi"
            r"|emoji\p{L}*|liste\p{L}*|tablo\p{L}*|kısaltma\p{L}*|jargon\p{L}*|kaynak\p{L}*|ondalık"
            r"|biçim\p{L}*|format\p{L}*|türkçe|ingilizce|almanca|sen diye|siz diye)\b",
            "Türkçe cevap ver.",
            "Türkiye'ye git.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:bu|şu|şimdi|henüz|şimdilik|yarın|bugün|sonraki|son|ilk|ikinci|bir kez daha"
            r"|tekrar)\b(?! (?:sohbette|konuşmada|projede))(?<!bundan)|\b(?:bir|iki|üç|beş|on) (?:şiir"
            r"|mektup|fikir|e-posta|fonksiyon|hikâye|sütun)\p{L}*",
            "Rezervasyonu henüz iptal etme.",
            "Rezervasyonu iptal et.",
        ),
    ),
    conditions=(
        Entry(
            r"\b\p{L}+(?:dığımda|diğimde|duğumda|düğümde|tığımda|tiğimde|tuğumda|ırsam|irsem|ursam|ürsem"
            r"|dığında|diğinde|arken|erken)\b",
            "Kod yapıştırdığımda önce kontrol et.",
            "Kod eski.",
        ),
    ),
    standing=(
        Entry(
            r"\b(?:alerjim var|vejetaryenim|veganım|diyabetim var|şeker hastasıyım)\b|\b(?:unutma"
            r"|aklında tut|hatırla)(?:yın)?[:,] ",
            "Fıstığa alerjim var.",
            "Yorgunum.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:neden|niçin|niye)\b[^,.!?]*\b(?:açıkla|söyle|anlat)\p{L}*|\b(?:her zaman|asla"
            r"|hiçbir zaman|hep) [^,.!?]{1,40}?(?:an|en|mayan|meyen) (?:bir )?(?:fonksiyon|kod|hikâye|şiir"
            r"|dosya)\p{L}*",
            "her zaman True döndüren bir fonksiyon",
            "bir fonksiyon",
        ),
    ),
    tales=(
        Entry(
            r"\b(?:patronum|annem|babam|arkadaşım|doktor|öğretmenim|kardeşim)\b[^.!?]*\b(?:der|dedi|diyor"
            r"|söyledi|söyler)\W*$|(?:dım|dim|dum|düm|tım|tim|tum|tüm|yorum|dık|dik|ıyor|iyor|uyor|üyor"
            r"|ardı|erdi)\W*$(?<!istiyorum\W)(?<!istiyorum)",
            "Patronum hep geç kalma der.",
            "Geç kalma.",
        ),
    ),
    polite=(
        Entry(
            r"[^?]{0,40}\b(?:her zaman|bundan sonra|her seferinde|daima)\b[^?]{0,60}\b\p{L}+(?:bilir|r|ır"
            r"|ir|ar|er) (?:misin|mısın|misiniz|mısınız)",
            "Bundan sonra Türkçe yazar mısın?",
            "Türkçe yazar mısın?",
        ),
    ),
)
