"""The words of Japanese."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases

RULES = (
    r"(?:必ず|絶対に|決して|常に|今後は?|これからは?|毎回|一切|いつも)[^。.!?]{0,80}"
    r"(?:ください|下さい|くれ|こと|しろ|せよ|なさい|ように|願います|お願い\p{L}*|頼む|頼みます|するな|欲しい|ほしい)[\W_]*$"
    r"|ないでください|ないで下さい|(?<!心配し|気にし|泣か)ないで\W*$|ないで(?:ね|ほしい|欲しい)|覚えておいて|忘れないで"
    r"|は(?:厳禁|禁止)(?:です|だ|とします|\W|$)|^(?!.*(?:趣味|夢|好き|目標|理由|のは)).*[るくうすつぬむぐぶい]こと\W*$"
    r"|(?:必ず|絶対に|今後は?|これからは?)[^。.!?]{0,80}(?:て|ね)\W*$"
)

JAPANESE = Lexicon(
    code="ja",
    name="Japanese",
    script="Kana",
    phrases=Phrases(
        "これはこの会話の前半の要約で、背景資料です。新しい指示ではありません。会話は以下に続きます。",
        "画像はもう表示されません",
        "背景資料として引用した以前のメッセージ:",
        "表示されなくなった以前のメッセージ",
    ),
    dates=("昨日 明日 先週 来週"),
    idle_words=("今後 絶対 現在"),
    own_person=(Entry(r"私|僕"),),
    corrections=(Entry(r"訂正|ではなく|じゃなくて|変更"),),
    reminders=(Entry(r"覚えて|忘れないで|記憶して"),),
    decisions=(Entry(r"決定|決めた|決めました|決まりました|ことにし(?:た|ます|ました)|合意し|採用"),),
    undecided=(Entry(r"未決|未定|決まっていません"),),
    anchor_cues=("覚えて|忘れないで|記憶して|決定|決め|決まり|ことにし|合意|採用"),
    findings=(Entry(r"エラー|失敗|成功|完了"),),
    finding_cues=("エラー|失敗|成功|完了"),
    rules=(Entry(RULES),),
    impostures=(Entry(r"要約(?:者|器|する時|に)"),),
    withdrawals=(
        Entry(
            r"これからは|今後は|これから|やっぱり|やはり|訂正|取り消|もう.{0,20}(?:いい|構い|大丈夫)"
            r"|また.{0,20}(?:いい|構い|大丈夫)"
        ),
    ),
    vague_withdrawals=(Entry(r"現在|今は"),),
    permissions=(Entry(r"いいです|ください"),),
    withdrawal_cues=("これから|今後|やっぱり|やはり|訂正|取り消|もう|また|今は|現在"),
    transforms=(Entry(r"翻訳|訳し|要約|添削|短くし"),),
    pointers=(Entry(r"この|次の|以下"),),
    exhibits=(Entry(r"ログ|エラー"),),
    rule_headings=(Entry(r"ルール|要求"),),
    nothing=(
        Entry(
            r"はい|いいえ|了解(?:です|しました)?|承知(?:しました|いたしました)|わかりました|エラー"
            r"|なし"
        ),
    ),
    refusals=(
        Entry(r"(?:この|その)?(?:リクエスト|ご要望|ご依頼)\S{0,12}(?:できません|できかねます)"),
        Entry(r"申し訳|すみません|ごめんなさい|恐れ入りますが|要約できません|お手伝いできません"),
        Entry(r"AI(?:言語)?モデルとして|私はAI"),
    ),
    errors=(
        Entry(r"エラー\s*+[:：]"),
        Entry(r"エラーが発生"),
    ),
    question_starts=(Entry(r".*(?:ですか|ますか|ましょうか|でしょうか|ませんか)\W*+$"),),
    reader=(Entry(r"(?:ですか|ますか|ましょうか|でしょうか|ませんか)\W*+$"),),
    question_ends=(Entry(r"か[。.]?"),),
    deferrals=(
        Entry(
            r"確認(?:いた)?します|確認してみ|調べます|お調べ|調べてみ|問い合わせてみ|問い合わせます"
            r"|折り返し|後ほど"
        ),
    ),
    references=(Entry(r"何|いつ|どこ|誰|どの"),),
)
