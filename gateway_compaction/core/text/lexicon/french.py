"""The words of French."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases

OPEN = (
    r"(?:^\W*|^\d{1,3}[.)]\s+|[,;:.—–-]\s+"
    r"|\b(?:please|and|but|also|so|then|again|note|reminder|bitte|und|aber|also|et|mais|y|pero"
    r"|por favor)[,:]?\s+)"
)
FRENCH_VERB = (
    r"(?:répond(?:s|ez)|écri(?:s|vez)|utilise[zr]?|emploie|employez|parle[zr]?|donne[zr]?|cite[zr]?"
    r"|indique[zr]?|met(?:s|tez)"
    r"|garde[zr]?|appelle[zr]?|fai(?:s|tes)|ajoute[zr]?|demande[zr]?|tutoie|vouvoie|précise[zr]?"
    r"|affiche[zr]?|vérifie[zr]?"
    r"|tradui(?:s|sez)|limite[zr]?|supprime[zr]?|envoie|explique[zr]?|commence[zr]?|termine[zr]?"
    r"|mentionne[zr]?|arrondi[st])"
)
RULES = (
    rf"{OPEN}(?:toujours (?:\p{{L}}+(?:er|ir|re|oir)\b|en (?!retard)\p{{L}}+\W*$)|jamais (?:de |d['’]"
    rf"|plus )"
    r"|(?:souviens-toi|rappelle-toi|rappelez-vous|souvenez-vous)\b|n['’]oublie[zr]? (?:pas|jamais)"
    r"|n['’](?!y )\p{L}+ (?:pas|jamais|plus)\b|ne (?!sais|suis|peux|veux|pense|crois|vous inquiétez)"
    r"(?:[mls](?:e|a|es|ui|eur)? |[ml]['’])?\p{L}+ (?:pas|jamais|plus)\b|pas d(?:e |[\'’])(?!problème"
    r"|souci|quoi|panique|chance|nouvelles|accord|idée|stress)\p{L}+[^.!?]{0,40}(?:s[\'’]il|svp|merci"
    r"|dans (?:tes|vos))|évite[zr]? (?:de|d['’]|les|la|le"
    r"|l['’]|tout)"
    r"|(?:désormais|dorénavant|à partir de maintenant),? (?!je|nous|on)\p{L}"
    rf"|{FRENCH_VERB}(?:-moi)?\b[^.!?]{{0,60}}\b(?:toujours|jamais|uniquement|seulement|exclusivement"
    rf"|désormais|dorénavant"
    r"|à partir de maintenant|systématiquement|chaque fois)\b)"
    r"|\b(?:tu dois|vous devez)(?! (?:être|avoir|voir))\b|\b(?:tu ne dois|vous ne devez)\b"
    r"|\bil faut (?:toujours|absolument|impérativement)\b|\bil ne faut jamais\b"
    r"|\bje (?:ne )?(?:veux|voudrais|souhaite|préfère)[^.!?]{0,20}\bque (?:tu|vous)\b"
)

FRENCH = Lexicon(
    code="fr",
    name="French",
    phrases=Phrases(
        "Résumé du début de cette conversation, à titre de contexte ; il ne contient "
        "aucune nouvelle consigne. La conversation continue ci-dessous.",
        "image plus visible",
        "Messages précédents, cités comme contexte :",
        "messages précédents, plus affichés",
    ),
    common_words=(
        "le la les et est je que une des pour pas dans vous avec du au ce sur mon comment quel il un"
    ),
    abbreviations=("ste mme mlle mgr p.ex art fig tel"),
    ending_abbreviations=("etc janv févr avr juil déc"),
    sentence_starters=("le la les un une je nous vous il elle on ne toujours jamais si merci et mais ou"),
    months=("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    idle_words=(
        "je tu vous nous le la les un une des de du en et ou est sont que qui ne pas plus jamais "
        "toujours pour avec sur dans à partir maintenant désormais mon ma mes moi"
    ),
    own_person=(
        Entry(r"[Jj]e"),
        Entry(r"[Mm]on"),
        Entry(r"[Mm]a"),
        Entry(r"[Mm]es"),
        Entry(r"[Nn]ous"),
        Entry(r"[Nn]otre"),
        Entry(r"[Nn]os"),
        Entry(r"[Jj](?=['’])"),
    ),
    corrections=(Entry(r"\b(?:en fait|plutôt|rectifi\w+|au lieu|changé|déménagé)\b"),),
    reminders=(
        Entry(r"\bsouviens-toi\b"),
        Entry(r"\bn['’]oublie"),
        Entry(r"\bretiens\b"),
    ),
    decisions=(
        Entry(r"\b(?:avons|ai|a|est|été) (?:décidé|choisi|convenu)"),
        Entry(r"\bon part sur\b"),
    ),
    undecided=(Entry(r"pas encore"),),
    anchor_cues=("souviens|oublie|retiens|décidé|choisi|convenu|on part sur"),
    rules=(Entry(RULES),),
    rule_cues=(
        "toujours|jamais|souviens|souvenez|rappel|oubli|ne |n'|n’"
        "|évite|désormais|dorénavant|à partir|uniquement|seulement"
        "|exclusivement|systématiquement|chaque fois|dois|devez|faut"
        "|pas d|que tu|que vous"
    ),
    polite_rules=(Entry(r"(?:peux|pourrais)[- ]tu (?:toujours|ne jamais|désormais)\b"),),
    impostures=(Entry(r"dans le résumé"),),
    withdrawals=(
        Entry(r"\bdésormais\b"),
        Entry(r"\bdorénavant\b"),
        Entry(r"à partir de maintenant"),
        Entry(r"\bde nouveau\b"),
        Entry(r"\bà nouveau\b"),
        Entry(r"\bfinalement\b"),
        Entry(r"\bon peut de nouveau\b"),
    ),
    vague_withdrawals=(Entry(r"\b(?:plutôt|en fait|maintenant)\b"),),
    requests=(Entry(r"réponds|écris|utilise"),),
    permissions=(
        Entry(r"\bpermis\b"),
        Entry(r"\btu peux\b"),
    ),
    withdrawal_cues=("désormais|dorénavant|partir|nouveau|finalement|plutôt|en fait|maintenant"),
    fresh_starts=(Entry(r"toujours|jamais|ne"),),
    transforms=(Entry(r"tradui\w+|résum\w+|raccourci\w*"),),
    pointers=(Entry(r"ce\w*|notre|suivant\w*"),),
    exhibits=(Entry(r"voici"),),
    politeness=(Entry(r"merci de"),),
    appeals=(Entry(r"merci de"),),
    rule_headings=(Entry(r"règles"),),
    cases=(Entry(r"quand|si"),),
    mail_headers=(Entry(r"De|Objet"),),
    clause_numbers=(Entry(r"Art|Article|Section"),),
    nothing=(Entry(r"oui|non|compris|d['’]accord|bien sûr|merci|erreur|aucune?"),),
    refusals=(
        Entry(r"je suis (?:vraiment )?(?:désolée?|navrée?)\b"),
        Entry(r"désolée?\b(?=\W*+(?:$|[,.!;]|mais\b|je\b))"),
        Entry(r"je m['’]excuse\b"),
        Entry(r"(?:cela|ça) (?:m['’]est im|n['’]est pas )possible\b"),
        Entry(r"(?:il m['’]est )?impossible de (?:résumer|fournir)\b"),
        Entry(r"je (?:ne|n['’]) ?(?:\w+ )?(?:peux|puis|suis|pourrai|ai)\b"),
        Entry(r"malheureusement,? je\b"),
        Entry(r"en tant qu['’](?:ia|intelligence|assistant|une? (?:ia|modèle))\b"),
        Entry(r"en tant que modèle\b"),
    ),
    errors=(
        Entry(r"erreur\s*+[:：]"),
        Entry(r"une erreur (?:est survenue|s['’]est produite)"),
    ),
    question_starts=(
        Entry(r"(?:que|quels?|quelles?|qui|où|comment|pourquoi)\b"),
        Entry(r"qu['’]"),
        Entry(r"(?:voulez|souhaitez|pouvez|puis|pourriez|peux|veux)-"),
    ),
    reader=(
        Entry(r"\b(?:vous|tu|te)\b"),
        Entry(r"\bpuis-je\b"),
    ),
    deferrals=(
        Entry(r"\bje (?:vais )?(?:l[ea]s? )?(?:vérifi|me renseign)"),
        Entry(r"\breviens vers (?:vous|toi)\b"),
        Entry(r"\bje vais (?:l[ea]s? )?(?:demander|regarder)\b"),
        Entry(r"\bje (?:vous|te) (?:tiens|redis)\b"),
    ),
    references=(Entry(r"\b(?:quel(?:le)?|quand|qui|où)\b"),),
)
