"""The words of French."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases
from gateway_compaction.core.text.lexicon.rules.french import RULES

FRENCH = Lexicon(
    code="fr",
    rules=RULES,
    near_pointers=(Entry(r"\b(?:ce|cet|cette|ces|suivante?s?|ci-dessous)\b", "cette", "notre"),),
    bare_questions=(
        Entry(
            r"(?:(?:et|mais|donc|alors|bonjour|salut),? )*(?:est-ce|c['’]est quoi|qu['’]est|pourquoi"
            r"|comment\b|quels?\b|quelles?\b|où\b|qui (?:est|a|sont)\b|que (?:fait|faire|veut|signifie"
            r"|dois)\b|combien|faut-il|doit-on|peut-on|y a-t-il|d['’]où|quand (?:est|faut|peut|doit)"
            r"|(?:peux|pourrais|dois|sais|as|es)[- ]tu\b|(?:pouvez|pourriez|avez|êtes)[- ]vous\b)",
            "est-ce qu'il faut toujours un return",
            "Réponds toujours.",
        ),
    ),
    conjunctions=(Entry(r"et|mais|donc|ou|alors|puis|car|du coup|merci", "et", "eté"),),
    name="French",
    phrases=Phrases(
        "Résumé du début de cette conversation, à titre de contexte ; il ne contient "
        "aucune nouvelle consigne. La conversation continue ci-dessous.",
        "image plus visible",
        "Messages précédents, cités comme contexte :",
        "messages précédents, plus affichés",
        "fichier plus visible",
        "enregistrement audio plus disponible",
        "vidéo plus visible",
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
        Entry(r"[Jj]e", "je", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Mm]on", "mon", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Mm]a", "ma", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Mm]es", "mes", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Nn]ous", "nous", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Nn]otre", "notre", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Nn]os", "nos", "Le bureau du port ouvre à neuf heures."),
        Entry(r"[Jj](?=['’])", "j’", "Le bureau du port ouvre à neuf heures."),
    ),
    corrections=(
        Entry(
            r"\b(?:en fait|plutôt|rectifi\w+|au lieu|changé|déménagé)\b",
            "rectification",
            "Le bureau du port ouvre à neuf heures.",
        ),
    ),
    reminders=(
        Entry(r"\bsouviens-toi\b", "souviens-toi", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bn['’]oublie", "n’oublie", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bretiens\b", "retiens", "Le bureau du port ouvre à neuf heures."),
    ),
    decisions=(
        Entry(
            r"\b(?:avons|ai|a|est|été) (?:décidé|choisi|convenu)",
            "avons convenu",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(r"\bon part sur\b", "on part sur", "Le bureau du port ouvre à neuf heures."),
    ),
    undecided=(Entry(r"pas encore", "pas encore", "Le bureau du port ouvre à neuf heures."),),
    anchor_cues=("souviens|oublie|retiens|décidé|choisi|convenu|on part sur"),
    withdrawals=(
        Entry(
            r"\boublie[zr]? (?:ce|la|le|les|mon|ma|mes)\b|\blaisse[zr]? tomber\b|\bne (?:compte|vaut"
            r"|tient|s['’]applique)(?:nt)? plus\b|\bannule[zr]? (?:ce|la|le|les|ma|mon)\b",
            "Oublie ce que j'ai dit.",
            "N'oublie pas.",
        ),
        Entry(r"\bdésormais\b", "désormais", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bdorénavant\b", "dorénavant", "Le bureau du port ouvre à neuf heures."),
        Entry(r"à partir de maintenant", "à partir de maintenant", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bde nouveau\b", "de nouveau", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bà nouveau\b", "à nouveau", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bfinalement\b", "finalement", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bon peut de nouveau\b", "on peut de nouveau", "Le bureau du port ouvre à neuf heures."),
    ),
    vague_withdrawals=(
        Entry(r"\b(?:plutôt|en fait|maintenant)\b", "maintenant", "Le bureau du port ouvre à neuf heures."),
    ),
    requests=(Entry(r"réponds|écris|utilise", "réponds", "Le bureau du port ouvre à neuf heures."),),
    permissions=(
        Entry(r"\bpermis\b", "permis", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\btu peux\b", "tu peux", "Le bureau du port ouvre à neuf heures."),
    ),
    withdrawal_cues=(
        "oublie|laisse|plus|annule|désormais|dorénavant|partir|nouveau|finalement|plutôt|en fait|maintenant"
    ),
    fresh_starts=(Entry(r"toujours|jamais|ne", "toujours", "Le bureau du port ouvre à neuf heures."),),
    transforms=(
        Entry(
            r"tradui\w+|reli[st]\w*|corrig\w+|reformul\w+|résum\w+|raccourci\w*",
            "reformuler",
            "Le bureau du port ouvre à neuf heures.",
        ),
    ),
    pointers=(Entry(r"ce\w*|notre|suivant\w*", "suivant", "Le bureau du port ouvre à neuf heures."),),
    exhibits=(Entry(r"voici", "voici", "Le bureau du port ouvre à neuf heures."),),
    politeness=(Entry(r"merci de", "merci de", "Le bureau du port ouvre à neuf heures."),),
    appeals=(Entry(r"merci de", "merci de", "Le bureau du port ouvre à neuf heures."),),
    rule_headings=(Entry(r"règles", "règles", "Le bureau du port ouvre à neuf heures."),),
    cases=(Entry(r"quand|si", "quand", "Le bureau du port ouvre à neuf heures."),),
    mail_headers=(Entry(r"De|À|Cc|Envoyé|Objet", "Envoyé", "Le port ouvre tôt."),),
    clause_numbers=(Entry(r"Art|Article|Section", "Article", "Le bureau du port ouvre à neuf heures."),),
    ages=(
        Entry(
            r"il y a (?:\d{1,3}|une?) \p{L}+|hier|à l['’]instant",
            "il y a 3 jours",
            "il y a du pain",
        ),
    ),
    posted=(
        Entry(
            r"a (?:commenté|écrit|répondu|publié|ajouté un commentaire)(?: le)?",
            "a commenté le",
            "commentaire",
        ),
    ),
    file_labels=(
        Entry(
            r"(?:fichier|document|chemin|source|pièce jointe)\b|(?:contenu|extrait)s? d[eu'’]",
            "Contenu de",
            "Fichiers",
        ),
    ),
    source_labels=(
        Entry(
            r"(?:résultats?|sortie|réponse|contenu|rapport)\b[^:\n]{1,30}\b(?:outil|commande"
            r"|fonction|fichier|programme|agent|recherche)\b|observation\b",
            "Résultat de l'outil",
            "Résultat",
        ),
    ),
    nothing=(
        Entry(
            r"oui|non|compris|d['’]accord|bien sûr|merci|erreur|aucune?",
            "d'accord",
            "Le bureau du port ouvre à neuf heures.",
        ),
    ),
    refusals=(
        Entry(
            r"je suis (?:vraiment )?(?:désolée?|navrée?)\b",
            "je suis désolé",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(
            r"désolée?\b(?=\W*+(?:$|[,.!;]|mais\b"
            r"|je\b))",
            "désolé.",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(r"je m['’]excuse\b", "je m’excuse", "Le bureau du port ouvre à neuf heures."),
        Entry(
            r"(?:cela|ça) (?:m['’]est im|n['’]est pas )possible\b",
            "cela n'est pas possible",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(
            r"(?:il m['’]est )?impossible de (?:résumer|fournir)\b",
            "impossible de fournir",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(
            r"je (?:ne|n['’]) ?(?:\w+ )?(?:peux|puis|suis|pourrai|ai)\b",
            "je ne peux pas",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(r"malheureusement,? je\b", "malheureusement je", "Le bureau du port ouvre à neuf heures."),
        Entry(
            r"en tant qu['’](?:ia|intelligence|assistant|une? (?:ia|modèle))\b",
            "en tant qu'intelligence",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(r"en tant que modèle\b", "en tant que modèle", "Le bureau du port ouvre à neuf heures."),
    ),
    errors=(
        Entry(r"erreur\s*+[:：]", "erreur:", "Le bureau du port ouvre à neuf heures."),
        Entry(
            r"une erreur (?:est survenue|s['’]est produite)",
            "une erreur s’est produite",
            "Le bureau du port ouvre à neuf heures.",
        ),
    ),
    question_starts=(
        Entry(
            r"(?:que|quels?|quelles?|qui|où|comment|pourquoi)\b",
            "pourquoi",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(r"qu['’]", "qu’", "Le bureau du port ouvre à neuf heures."),
        Entry(
            r"(?:voulez|souhaitez|pouvez|puis|pourriez|peux|veux)-",
            "souhaitez-",
            "Le bureau du port ouvre à neuf heures.",
        ),
    ),
    reader=(
        Entry(r"\b(?:vous|tu|te)\b", "vous", "Le bureau du port ouvre à neuf heures."),
        Entry(r"\bpuis-je\b", "puis-je", "Le bureau du port ouvre à neuf heures."),
    ),
    deferrals=(
        Entry(
            r"\bje (?:vais )?(?:l[ea]s? )?(?:vérifi|me renseign)",
            "je me renseign",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(
            r"\breviens vers (?:vous|toi)\b", "reviens vers vous", "Le bureau du port ouvre à neuf heures."
        ),
        Entry(
            r"\bje vais (?:l[ea]s? )?(?:demander|regarder)\b",
            "je vais regarder",
            "Le bureau du port ouvre à neuf heures.",
        ),
        Entry(
            r"\bje (?:vous|te) (?:tiens|redis)\b", "je vous tiens", "Le bureau du port ouvre à neuf heures."
        ),
    ),
    references=(
        Entry(r"\b(?:quel(?:le)?|quand|qui|où)\b", "quand", "Le bureau du port ouvre à neuf heures."),
    ),
)
