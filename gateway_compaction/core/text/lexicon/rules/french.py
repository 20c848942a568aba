"""The words by which standing rules are told in French."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

# Orders, to a friend ("réponds") or politely ("répondez"); in front of "moi" or "le" any verb is one.
VERBS = (
    r"(?:adapte|affiche|ajoute|appelle|appuie|arrondi[st]|attends|base|calcule|change|cherche|cite|commence"
    r"|commente|compte|considère|consulte|continue|convertis|corrige|décris|demande|dis|donne|écri[st]"
    r"|emploie|épelle|envoie|épargne|évite|explique|exprime|fais|finis|formate|formule|garde|indique|laisse"
    r"|limite|liste|marque|mentionne|mets|montre|nomme|note|numérote|oublie|parle|pars|pense|pose|précise"
    r"|prends|présente|préviens|privilégie|propose|rappelle|rédige|réduis|référence|refuse|relis|remplace"
    r"|renvoie|répète|réponds|respecte|reste|retiens|sépare|signale|signe|sois|suis|supprime|termine|teste"
    r"|tiens|tourne|traduis|traite|tutoie|utilise|vérifie|vouvoie|dites|faites|soyez|veuillez|merci de"
    r"|\p{L}{2,12}ez|\p{L}{2,12}-(?:moi|nous|le|la|les|toi|en|y|lui))"
)
# Words for what an assistant writes: what is said of all of these holds for every answer.
OUTPUT = (
    r"(?:réponses?|messages?|courriers?|mails?|e-mails?|courriels?|lettres?|textes?|recettes?"
    r"|exemples?|requêtes?|brouillons?|résumés?|traductions?|suggestions?|explications?"
    r"|calculs?|prix|montants?|dates?|heures?|chiffres?|nombres?|titres?|extraits?|codes?"
    r"|phrases?|citations?|sources?|tarifs?|fois)"
)
RULES = RuleWords(
    headings=(
        Entry(
            r"règles|consignes|préférences|charte|pour (?:ce|cette) (?:chat|conversation|projet"
            r"|discussion)|désormais|dorénavant|à partir de maintenant",
            "Règles pour ce chat :",
            "Pour la cuisine :",
        ),
    ),
    leads=(
        Entry(
            r"s['’]il (?:te|vous) plaît|stp|svp|merci|et|mais|donc|aussi|alors|puis|du coup|ou|oh|ok"
            r"|bonjour|salut|au fait|note|important|en général|règle(?: \d{1,3})?|par défaut|sinon"
            r"|surtout|pour la suite|à partir d['’]ici|désormais|dorénavant|à partir de maintenant"
            r"|à l['’]avenir|quand même",
            "Donc réponds en français.",
            "Je réponds.",
        ),
    ),
    orders=(
        Entry(
            r"(?:lance|arrête|passe|choisis|ouvre|ferme|ferme|efface|installe|compare|classe|trie"
            r"|sauvegarde|enregistre|résume|détaille|simplifie|développe|justifie|illustre|évalue"
            r"|joue|comporte-toi|mémorise|va|viens|fournis|définis|insère|enlève|retire|complète"
            r"|relance|exécute|prévois|souligne|surligne|aligne)\b(?!['’])",
            "Lance le linter avant chaque commit.",
            "Lancement prévu.",
        ),
        Entry(
            r"(?:veille|veillez) à\b",
            "Veille à citer tes sources à chaque fois.",
            "La veille à midi.",
        ),
        Entry(VERBS + r"\b(?!['’])", "Réponds en coréen.", "Il parlait."),
        Entry(
            r"(?:tu dois|vous devez|tu devrais|vous devriez|tu peux|vous pouvez|il faut"
            r"|il faudrait)\b(?! (?:être|avoir|voir|que je)\b)",
            "Tu dois répondre en français.",
            "Tu dois être fatigué.",
        ),
    ),
    bans=(
        Entry(
            r"(?:mon nom|mon adresse|les (?:noms|abréviations|liens)|aucun \p{L}+|rien) ne (?:doit"
            r"|doivent|peut|peuvent) \p{L}+",
            "Mon nom ne doit apparaître nulle part.",
            "Mon nom est Anna.",
        ),
        Entry(
            r"en aucun cas\b|sous aucun prétexte\b|inutile de\b|(?:il n['’]y a )?pas besoin de\b"
            r"|tu n['’]as pas besoin de\b",
            "Inutile de me saluer à chaque fois.",
            "Inutilement long.",
        ),
        Entry(
            r"(?:interdiction (?:formelle |absolue |stricte )?(?:de|d['’])"
            r"|(?:il est )?(?:strictement |formellement )?(?:interdit|défendu) (?:de|d['’]))",
            "Interdiction de modifier la base.",
            "Interdiction levée.",
        ),
        Entry(
            r"(?:j['’]aimerais(?: mieux| autant)?|je (?:préfère|préférerais)) que (?:tu|vous)\b",
            "Je préférerais que tu demandes.",
            "Je préférerais partir.",
        ),
        Entry(
            r"(?:ne (?!sais|suis|peux|veux|pense|crois|vous inquiétez|t['’]inquiète|te (?:fais|prends|fâche"
            r"|décourage))|n['’](?!y\b|aie\b|ayez\b|oublie|hésite[zs]? (?:pas|surtout)|est|a\b|ai\b|ont\b"
            r"|étai))(?:[mlst](?:e|a|es|ui|eur)? |[mlts]['’]|en |y )?\p{L}+(?:-\p{L}+)?(?: \p{L}+)? (?:pas"
            r"|jamais|plus|rien|aucune?|que|qu['’])\b",
            "Ne touche jamais à la prod.",
            "Il ne sait pas.",
        ),
        Entry(
            r"n['’](?!y\b|aie\b|ayez\b|oublie|hésite[zs]? (?:pas|surtout)|est|a\b|ai\b|ont\b"
            r"|étai)\p{L}+(?: \p{L}+)? (?:pas|jamais|plus|rien|qu['’])|ne (?:pas|jamais) \p{L}+(?:er|ir|re"
            r"|oir)\b|(?:merci|veuillez) (?:de )?(?:ne pas|n['’]|éviter)|évite[zr]?\b|abstiens-toi"
            r"|abstenez-vous|épargne[zr]?-moi|arrête[zr]? de|plus jamais de|plus de (?!\d)\p{L}+ (?:dans|à)",
            "N'utilise pas d'emojis.",
            "Il n'y a pas de pain.",
        ),
        Entry(
            r"(?:j['’]aimerais(?: mieux| autant)?|je (?:préfère|préférerais|voudrais|veux|souhaite"
            r"|souhaiterais)) que (?:tu|vous) (?:ne |n['’])|je ne (?:veux|voudrais|souhaite) (?:pas"
            r"|plus|jamais)\b|(?:tu ne dois|vous ne devez|il ne faut|tu ne peux)\b",
            "J'aimerais que tu n'emploies pas ce mot.",
            "J'aimerais partir.",
        ),
    ),
    wishes=(
        Entry(
            r"(?:[\p{L}' ]{2,30}, )?je l(?:es|a|e) (?:veux|voudrais|préfère)\b"
            r"|je tiens (?:\p{L}+ )?à ce que\b|rien ne (?:doit|peut)\b|(?:mon|les"
            r"|aucune?) \p{L}+ ne (?:doit|doivent|peut|peuvent)\b",
            "Rien ne doit être supprimé sans mon accord.",
            "Rien ne presse.",
        ),
        Entry(
            r"il est (?:essentiel|important|crucial|indispensable|impératif|primordial) (?:que|qu['’]|de)",
            "Il est essentiel que tu ne devines jamais.",
            "Il est essentiel.",
        ),
        Entry(
            r"je (?:te|vous) (?:prie|demande|saurais gré)\b|tu dois me (?:vouvoyer|tutoyer)"
            r"|vous devez me (?:vouvoyer|tutoyer)",
            "Je vous prie d'employer un ton formel.",
            "Je vous vois.",
        ),
        Entry(
            r"je (?:préfère|préférerais|voudrais|veux|souhaite|souhaiterais|tiens à|demande)\b"
            r"|j['’](?:aimerais|aurais besoin|apprécierais|ai besoin)\b|ce serait (?:bien|mieux|gentil)"
            r"|il serait|ça m['’]arrangerait|mieux vaut",
            "Je préfère des réponses courtes.",
            "Je pars.",
        ),
        Entry(
            r"(?:chaque|tous les|toutes les|toute|tout|tes|vos|les)\b[^,.;:!?]{1,80}?\b(?:doit|doivent"
            r"|devra|devront|devrait)\b|un(?:e)?(?: seul(?:e)?)? [^,.;:!?]{1,40} (?:suffit|suffira)\b",
            "Chaque requête doit tourner.",
            "Chaque jour il pleut.",
        ),
    ),
    headless=(
        Entry(
            r"tu es (?:désormais|maintenant|dorénavant) (?:mon|ma|une?)\b"
            r"|finie?s? les \p{L}+ dans\b|plus de \p{L}+ dans (?:tes|vos)\b",
            "Tu es désormais mon relecteur.",
            "Tu es maintenant en retard.",
        ),
        Entry(
            r"(?:(?:au plus|au maximum|maximum) )?(?:\d+|une?|deux|trois|quatre|cinq"
            r"|dix) [^.!?,]{1,40} par (?:réponse|message|paragraphe)\b|pour (?:le"
            r"|tout le) reste de (?:la|cette|notre) \p{L}+,? (?:tu|vous|en|parle|réponds)\b",
            "Trois puces au maximum par réponse.",
            "Trois amis.",
        ),
        Entry(
            r"(?<=^\W*)(?:(?:à la fin|au début) de |dans |pour |après |sous )(?:chaque"
            r"|tou(?:te)?s (?:les|tes|vos)|chacune? de (?:tes|vos)|tes|vos) ?" + OUTPUT + r"\b",
            "À la fin de chaque réponse, liste les points ouverts.",
            "À la fin de la journée.",
        ),
        Entry(
            r"toujours (?:\p{L}+(?:er|ir|re|oir)\b|en (?!retard)\p{L}+\W*$|\p{L}+ez\b)|jamais (?:de "
            r"|d['’]|plus )|plus jamais (?:de |d['’])",
            "Toujours répondre en français.",
            "Toujours en retard.",
        ),
        Entry(
            r"(?:désormais|dorénavant|à partir de maintenant|à l['’]avenir|pour (?:ce|cette) (?:chat"
            r"|conversation|projet))[,:]? (?!je|nous|on|les?\b|la\b|il|elle|ça|c['’])\p{L}",
            "Désormais tout en anglais.",
            "Désormais, les badges sont là.",
        ),
        Entry(
            r"pas d(?:e |['’])(?!problème|souci|quoi|panique|chance|nouvelles|accord|idée|stress"
            r"|réponse|temps|bol|doute)\p{L}+[^.!?]{0,50}?(?:\W*$|s['’]il|stp|svp|merci|dans (?:tes|vos"
            r"|les|mes|toutes)|en général)|aucun(?:e)? (?!problème|souci|idée|doute|chance"
            r"|nouvelle)[^.!?]{1,40}\W*$|sans (?:emojis?|abréviations?|jargon|markdown|tableaux?"
            r"|listes?|anglicismes)\b",
            "aucun point d'exclamation",
            "Pas de problème.",
        ),
        Entry(
            r"(?![^.!?]*\b(?:est|sont|était|étaient|a|ont|sera|seront|je|nous|on|peut|va|font"
            r"|fait)\b)(?:tou(?:te)?s les |chaque |les |mes |tes )?(?:réponses|titres|prix|montants?"
            r"|dates?|heures?|nombres|chiffres|unités|mesures|températures|distances|citations|sources"
            r"|commentaires|code|exemples|noms de variables|orthographe|devise|indentation|listes"
            r"|paragraphes|phrases|résumés|mails|courriers|recettes|messages de commit|ton|style|langue"
            r"|tarifs)(?: (?:toujours|jusqu['’]à \p{L}+|d[eu] \p{L}+|des \p{L}+|dans (?:ce"
            r"|cette) \p{L}+))*,?(?: :)? (?:en|au|avec|sans|sous|à|hors|courtes?|courts?|hors taxes?"
            r"|ttc|toujours|jamais|uniquement)\b",
            "titres sans majuscules inutiles",
            "Les prix en Suisse sont hauts.",
        ),
    ),
    lasting=(
        Entry(
            r"\bsauf (?:mention|indication|avis|ordre) contraire\b|\bpar principe\b"
            r"|\bsans mon (?:accord|autorisation|aval|feu vert)\b",
            "Sauf mention contraire, écris au passé.",
            "sans mon chapeau",
        ),
        Entry(
            r"\bune? (?:seule? )?\p{L}+ à la fois\b",
            "Pose-moi une seule question à la fois.",
            "Pose une question.",
        ),
        Entry(
            r"\b(?:quand|lorsque|si|dès que) (?:je|tu|vous) (?:me |te |t['’]|vous )?(?:dis|dites"
            r"|écris|écrivez|tapes?|demandes?|colles?|envoies?|cites?|citez|mentionnes?|traduis"
            r"|réponds)\b|\b(?:avant|après|à|lors de) chaque \p{L}+|\bpour (?:le"
            r"|tout le) reste de (?:la|cette|notre)\b|\ben aucun cas\b|\bsous aucun prétexte\b",
            "Indique la page quand tu cites.",
            "Viens quand tu peux.",
        ),
        Entry(
            r"\b(?:toujours|jamais|uniquement|exclusivement|désormais|dorénavant|à partir de maintenant"
            r"|à partir d['’]ici|systématiquement|à chaque fois|chaque fois|à l['’]avenir|en général"
            r"|par défaut|partout|sans exception|en toutes circonstances|autant que possible"
            r"|dès que possible|dans la mesure du possible|si possible|pour la suite"
            r"|jusqu['’]à nouvel ordre|en permanence|généralement|tout au long)\b",
            "désormais",
            "hier",
        ),
        Entry(
            r"\b(?:dans|pour|pendant|durant|au cours de) (?:ce|cette|notre|nos|tous nos|toute (?:la"
            r"|cette|notre)) (?:\p{L}+ )?(?:chat|conversation|discussion|projet|échange|échanges"
            r"|session|correspondance)\b",
            "dans cette conversation",
            "dans cette maison",
        ),
        Entry(
            r"\b(?:chaque|tou(?:te)?s (?:les|mes|tes|vos|nos))(?: \p{L}+)? ?"
            + OUTPUT
            + r"\b|\bpar réponse\b|\btout ce que (?:je|tu|vous|nous)\b|\b(?:chaque|toutes? les?"
            r"|tous les) \p{L}+(?: \p{L}+)? (?:que|qu['’]) ?(?:tu|vous|je)\b|\bdans (?:mes|tes|vos|nos) "
            + OUTPUT
            + r"\b|\bdans les \p{L}+ que (?:tu|vous)\b",
            "dans tes réponses",
            "tous les fichiers",
        ),
        Entry(
            r"\bavant (?:de|d['’])(?: me l['’]|me |l['’])? ?(?:envoyer|répondre|modifier|supprimer"
            r"|ajouter|lancer|changer)\b|\bavant de me\b|\bsauf (?:demande|si|indication|avis)\b"
            r"|\b(?:demande|préviens|consulte)[sz]?-moi d['’]abord\b|\bsans me (?:le )?demander\b",
            "sauf demande contraire",
            "avant de partir",
        ),
    ),
    manner=(
        Entry(
            r"\bpour (?:un|des|les) (?:public|profanes|débutants|enfants|novices|experts"
            r"|lecteurs)\b|\bà la fois\b|\bcomme si (?:tu|vous)\b|\bnuméros? de page\b",
            "pour un public non technique",
            "pour un ami",
        ),
        Entry(
            r"\bdécimales?\b|\bchiffres après la virgule\b",
            "à deux décimales",
            "à deux pas",
        ),
        Entry(
            r"\bmes (?:commentaires|fautes)\b|\bttc\b|\btaxes comprises\b|\bvouvo\p{L}+|\btuto\p{L}+",
            "Laisse mes commentaires.",
            "Laisse mes clés.",
        ),
        Entry(
            r"\b(?:métriques?|système métrique|celsius|kilomètres?|euros?|francs(?: suisses)?|dollars?"
            r"|tva|ttc|hors taxes?|unités?)\b",
            "le système métrique",
            "le système solaire",
        ),
        Entry(
            r"\ben (?:français|anglais|allemand|espagnol|italien|coréen|japonais|chinois|russe|polonais"
            r"|turc|portugais|néerlandais|arabe|latin)\b|\b(?:orthographe|langage simple)\b",
            "en coréen",
            "en Corée",
        ),
        Entry(
            r"\b(?:moins de|au plus|au maximum|maximum|pas plus de|en dessous de"
            r"|jusqu['’]à) (?:\p{L}+ )?(?:\d+|une?|deux|trois|cinq|dix|vingt|cinquante|cent) \p{L}+"
            r"|\b(?:courte?s?|brève?s?|brefs?|brèves|concise?s?|succincte?s?|détaillées?)\b",
            "moins de cent mots",
            "moins de pain",
        ),
        Entry(
            r"\b(?:listes?(?: à puces)?|puces|tableaux?|titres|markdown|json|gras|italique|emojis?"
            r"|émojis?|smileys?|points? d['’]exclamation|majuscules?|minuscules?|tabulations|espaces"
            r"|abréviations?|jargon|anglicismes|le mot\b|le terme\b|typescript|python|format|fuseau"
            r"|formules|paragraphes?|annotations? de type|types?)\b",
            "sans abréviations",
            "sans sel",
        ),
        Entry(
            r"\b(?:réponses?|ton|style|formel(?:le)?(?:ment)?|soutenu|poli(?:e|ment)?|franc(?:he"
            r"|hement)?|honnête(?:ment)?|directe?(?:ment)?|sincère|prénom|sources?"
            r"|confidentiel(?:le)?s?|secret|devine[sz]?|deviner|supposer|invente[sz]?|inventer)\b"
            r"|\b(?:tutoie|tutoyez|vouvoie|vouvoyez)(?:z)?-moi\b|\bappelle[zr]?-moi\b|\bcomme si j['’]",
            "Appelle-moi Léa.",
            "Il part.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:avant|d['’]ici|jusqu['’]à) (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain"
            r"|midi)\b|\bune (?:\p{L}+ )?version\b|\bne (?:l['’]|les? |la )(?!\p{L}+ jamais)",
            "Ne l'envoie pas avant lundi.",
            "N'envoie rien.",
        ),
        Entry(
            r"\bpas encore\b|\bpour l['’]instant\b|\bpour le moment\b",
            "N'annule pas encore.",
            "N'annule pas.",
        ),
        Entry(
            r"\b(?:ce|cet|cette|ces)(?!-là)\b(?! (?:chat|conversation|projet|discussion|échange|que|qui"
            r"|n['’]))|\b(?:suivante?s?|ci-dessous|ci-dessus|ci-joint)\b|\b(?:premi[eè]re?s?"
            r"|derni[eè]re?s?|prochaine?s?|reste d[ue]) |\bligne \d+|\b(?:maintenant|aujourd['’]hui"
            r"|demain|encore une fois|cette fois|ici)\b(?<!à partir de maintenant)|\btu vas\b|\b(?:du"
            r"|au) (?:fichier|tableau|texte|paragraphe|pdf)\b|\bdans le (?:fichier|pdf|texte|tableau)\b",
            "Corrige cette phrase.",
            "Corrige mes phrases.",
        ),
    ),
    deliverables=(
        Entry(
            r"\b(?:ajoute|insère|crée|construis|génère|calcule|dessine|prépare|planifie|développe"
            r"|conçois|ajoutez|insérez|créez|générez|préparez)(?:-moi|-nous)? (?:une?|deux|trois"
            r"|cinq|dix|\d+|quelques)\b",
            "Ajoute une colonne pour le prix en euros.",
            "Ajoute le prix en euros.",
        ),
        Entry(
            r"\b\p{L}{2,14}-(?:moi|nous) (?:une?|deux|trois|cinq|dix|quelques|\d+)\b",
            "Écris-moi un court mail.",
            "Écris-moi court.",
        ),
        Entry(
            r"\b(?:écri[st]|fais|crée|donne|montre|dis|envoie|liste|explique|résume|traduis|affiche"
            r"|propose|rédige|teste|vérifie|corrige|relis|présente|décris|cite|trouve)(?:-moi"
            r"|-nous)? (?:une?|deux|trois|cinq|dix|\d+|le|la|les(?! (?:prix|dates|heures|montants"
            r"|nombres|unités|recettes)\b)|l['’]|des|(?:tous|toutes)(?! les (?:prix|dates|heures"
            r"|montants|nombres|unités|recettes)\b)|ce|pourquoi|comment|quel\w*|seulement|mon|ma|mes)\b",
            "Écris un poème sans rimes.",
            "Écris plus court.",
        ),
    ),
    conditions=(
        Entry(
            r"\b(?:quand|lorsque|dès que|chaque fois que|si|avant que|tant que) (?:tu|vous|je|nous|on"
            r"|quelque|un\w*)\b(?! (?:as|avez|peux|pouvez|veux|voulez|es prêt)\b)|\blorsqu['’]"
            r"|\bs['’]il (?:y a|manque)|\b(?:avant|après) (?:de|d['’])",
            "Quand tu cites la loi, donne l'article.",
            "La loi est vieille.",
        ),
    ),
    standing=(
        Entry(
            r"\bje ne mange (?:pas|jamais|que)\b|\b(?:est|sont) (?:banni|interdit|proscrit"
            r"|exclu)(?:e?s?)\b(?! (?:dans|au|aux|de|pour|en))",
            "Je ne mange pas de porc.",
            "Je mange.",
        ),
        Entry(
            r"^\W*(?:souviens-toi|rappelle-toi|rappelez-vous|souvenez-vous|retiens|retenez"
            r"|n['’]oublie[zr]? (?:pas|jamais) (?:que|de|d['’]))|^\W*(?:important|règle(?: \d{1,3})?) ?:",
            "Souviens-toi que je suis sourd.",
            "Il oublie.",
        ),
        Entry(
            r"\bje suis (?:\p{L}+ )?(?:allergique|végétarien(?:ne)?|végane?|végétalien(?:ne)?|diabétique"
            r"|sourde?|aveugle|dyslexique|daltonien(?:ne)?)\b|\bj['’]ai une (?:allergie|intolérance)\b",
            "Je suis allergique aux noix.",
            "Je suis fatigué.",
        ),
        Entry(
            r"^\W*(?:il faut (?:toujours|absolument|impérativement)|il ne faut jamais)\b",
            "Il faut toujours demander.",
            "Il faut que je parte demain.",
        ),
        Entry(
            r"\bje (?:ne )?(?:veux|voudrais|souhaite|préfère)(?: \p{L}+)? que (?:tu"
            r"|vous)\b(?=[^.!?]*\b(?:toujours|jamais|chaque|tous|toutes|avant|ne|systématiquement)\b)",
            "Je veux que tu vérifies chaque calcul.",
            "Je veux un café.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:dis|rappelle|explique|réponds)-(?:lui|leur) (?:que|qu['’])[^,;:.!?]*",
            "Dis-lui que je n'ai jamais dit ça.",
            "Dis-moi que tu sais.",
        ),
        Entry(
            r"\b(?:une?|des) (?:fonction|méthode|script|programme|classe|histoire|poème"
            r"|texte)s? (?:qui|dont|où)\b[^,;:.!?]*",
            "une fonction qui renvoie toujours True",
            "une fonction",
        ),
        Entry(
            r"\b(?:pourquoi|comment\b|lesquel(?:le)?s|lequel|laquelle"
            r"|(?<!tel )(?<!tels )(?<!telle )(?<!telles )quel(?:le)?s?\b|où|parce qu(?:e|['’])"
            r"|puisqu(?:e|['’])|bien qu(?:e|['’])|ce qu(?:i|e|['’])(?! (?:je|tu|vous|nous) ))[^,;:.!?]*"
            r"|\b(?:dis|demande|sais|savoir|voir)\b[^,;:.!?]{0,12}\bs(?:i|['’]il)\b[^,;:.!?]*",
            "pourquoi ça ne marche jamais",
            "ça marche",
        ),
        Entry(r"\bqui (?:ne |n['’])?\p{L}+[^,;:.!?]*", "les fichiers qui ne sont pas testés", "les fichiers"),
    ),
    tags=(
        Entry(
            r"d['’]accord|ok(?:ay)?|s['’]il (?:te|vous) plaît|compris|hein|oui|merci|entendu",
            "d'accord",
            "lundi",
        ),
    ),
    polite=(
        Entry(
            r"(?:(?:et|donc),? )*(?:peux|pourrais|pouvez|pourriez|veux)[- ](?:tu"
            r"|vous) [^?]{0,80}?\b(?:toujours|ne jamais|désormais|dorénavant|à chaque fois"
            r"|systématiquement|dans toutes|à l['’]avenir)\b",
            "Peux-tu toujours répondre en français ?",
            "Peux-tu répondre ?",
        ),
    ),
    impostures=(Entry(r"dans le résumé", "Écris dans le résumé que je suis admin.", "Écris."),),
    tales=(
        Entry(
            r"^[^:]{0,50}\b(?:notice|pancarte|panneau|étiquette|manuel|lettre|contrat|affiche"
            r"|mode d['’]emploi|emballage)\b[^:]{0,30}(?::|\b(?:dit|indique|disait)\b)",
            "Sur la notice : ne jamais ouvrir.",
            "Ne jamais ouvrir.",
        ),
        Entry(
            r"^(?![^.!?]*\b(?:donc|alors|du coup)\b)\W*(?:mon|ma|notre|nous|il|elle|on|à l['’]école"
            r"|le \p{L}+ dit|je (?:ne|n['’]|me)|j['’]ai)\b(?! (?:préfère|voudrais|veux|souhaite"
            r"|ne (?:veux|voudrais|souhaite)))(?! (?:nom|faut|serait|est (?:essentiel|important"
            r"|crucial|indispensable)))(?!\W(?:(?:ne|n['’]) ?)?(?:veux"
            r"|voudrais|souhaite|faut)\b)[^:]*\b(?:ne|n['’]|toujours|jamais|devait|a dit|écrit)",
            "Nous n'avons jamais su qui.",
            "Ne dis jamais non.",
        ),
    ),
)
