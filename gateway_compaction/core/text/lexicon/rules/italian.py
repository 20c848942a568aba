"""The words by which standing rules are told in Italian."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

VERBS = (
    r"(?:(?:adatt|aggiung|arrotond|aspett|avvis|calcol|cambi|chiam|chiamam|chied|cit|comment|comport"
    r"|consider|controll|convert|correg|descriv|dimmi|divid|elenc|esprim|evidenzi|evit|fai|ferm|firm"
    r"|formatt|fornis|gener|govern|inclu[dh]|indic|indich|inizi|inser|invi|lasci|leg|limit|manten|marc"
    r"|memorizz|mett|metti|mostr|mostram|nomin|numer|ometti|ordin|organizz|parl|pens|prepar|present|propon"
    r"|propong|prov|ragion|ricord|ricontroll|riduc|rifer|ripet|rispett|rispond|scriv|segnal|segu|separ"
    r"|specific|spieg|suggeris|tien|traduc|tradu|tratt|us|utilizz|verific|vai|controll|dammi|dacci|redig"
    r"|risparmi|consigli)(?:[aei]|isci|hi)?(?:mi|ci|lo|la|li|le|ti|melo|mele|meli|glielo|ne)?|(?:sii|sia"
    r"|da'|dai|di'|dica|fa'|faccia|faccio|stai|dammi|dimmi|dillo|fammi|mettimi|tieni|tenga|vogliate|voglia"
    r"|si prega di|ti prego di|abbi|rivolgiti|dammele|dammeli|astieniti|astenersi|cerca di"
    r"|assicurati(?: di)?|preferisci))"
)
OUTPUT = (
    r"(?:rispost[ae]|messaggi[o]?|lettere?|e-?mail|mail|testi|testo|ricett[ae]|esempi[o]?|query|bozz[ae]"
    r"|riassunt[oi]|traduzion[ei]|spiegazion[ei]|calcol[oi]|prezz[oi]|import[oi]|dat[ae]|or[ae]|orari|cifre"
    r"|numer[oi]|titol[oi]|frammenti|codice|fras[ei]|citazion[ei]|font[ei]|volta|occasione)"
)
RULES = RuleWords(
    headings=(
        Entry(
            r"regole|linee guida|preferenze|norme|per quest[ao] (?:chat|conversazione|progetto)"
            r"|d['’]ora in poi",
            "Regole per questa chat:",
            "Per la cucina:",
        ),
    ),
    leads=(
        Entry(
            r"per favore|e|ma|quindi|allora|anche|poi|inoltre|o|ok|ciao|senti|nota|importante|in generale"
            r"|regola(?: \d{1,3})?|perciò|d['’]ora in poi|d['’]ora in avanti|in futuro|grazie",
            "Per favore rispondi in italiano.",
            "Lui vive.",
        ),
    ),
    orders=(
        Entry(
            r"(?:correggi|fermati|lancia|apri|chiudi|scegli|confronta|salva|installa|giustifica"
            r"|semplifica|sottolinea|comportati|esegui|vai|continua|passa)\b",
            "Correggi ogni errore che faccio.",
            "Lui corregge.",
        ),
        Entry(VERBS + r"\b(?!['’])", "Rispondi in coreano.", "Lui vive."),
        Entry(
            r"(?:devi|dovresti|bisogna)\b(?! (?:essere|avere|vedere)\b)",
            "Devi rispondere in italiano.",
            "Devi essere stanco.",
        ),
    ),
    bans=(
        Entry(
            r"in nessun caso\b|per nessun motivo\b|non (?:serve|occorre|c['’]è bisogno) (?:che|di)\b",
            "In nessun caso devi contattare il padrone.",
            "In questo caso vieni.",
        ),
        Entry(
            r"(?:è )?(?:severamente |assolutamente )?(?:vietato|proibito)\b",
            "È vietato modificare il database.",
            "Vietnam è lontano.",
        ),
        Entry(
            r"(?:preferirei|preferisco|mi piacerebbe|gradirei) che\b",
            "Preferirei che chiedessi prima.",
            "Preferirei il tè.",
        ),
        Entry(
            r"non (?:(?:mi|lo|la|li|le|ci|ti) )?(?!preoccup|dimenticar)(?:\p{L}+(?:are|ere|ire|rre|ar|er|ir"
            r"|rmi|rlo|rla|rci|rti|rli))\b(?! preoccup)|non (?:dare|fare|dire|essere|usi|scriva|tocchi"
            r"|cancelli|utilizzi|metta|inserisca|aggiunga|proponga|suggerisca)\b",
            "Non toccare la produzione.",
            "Non è vero.",
        ),
        Entry(
            r"evit\p{L}*|astien\p{L}*|astenersi|risparmia\p{L}*|lascia (?:perdere|fuori|stare) (?!quello)"
            r"|smetti(?:la)? di|senza (?:emoji|abbreviazioni|tabelle|elenchi|anglicismi)\b",
            "evita gli inglesismi",
            "Lui parla.",
        ),
        Entry(
            r"(?:preferirei|preferisco|vorrei|voglio|mi piacerebbe|gradirei) che (?:tu |lei )?non\b"
            r"|non (?:voglio|vorrei|desidero|mi piace|mi piacciono)\b|non (?:devi|dovresti)\b(?! preoccup)",
            "Preferirei che non usassi la parola.",
            "Preferirei il tè.",
        ),
    ),
    wishes=(
        Entry(
            r"è (?:importante|essenziale|fondamentale|indispensabile) che\b",
            "È importante che tu non indovini mai.",
            "È importante.",
        ),
        Entry(
            r"(?:il|i|gli|le|la|l['’]) ?(?:tu[oae]i? |mie[i]? )?(?:rispost[ae]|messaggi[o]?|prezz[oi]"
            r"|import[oi]|dat[ae]|orari|numeri|titol[oi]|codice|commenti|citazioni|fonti|esempi|funzioni"
            r"|nomi|variabili)\b[^,.;:!?]{0,40}?\b(?:deve|devono|dovranno|dovrebbero)\b",
            "I prezzi devono includere l'IVA.",
            "I treni devono partire.",
        ),
        Entry(
            r"(?:la|ti|vi) prego di\b|le chiedo di\b|(?:le|tue|sue|i) (?:tue |sue )?(?:risposte"
            r"|testi) (?:devono|non devono)\b",
            "La prego di usare un registro formale.",
            "La vedo.",
        ),
        Entry(
            r"(?:preferisco|preferirei|vorrei|voglio|mi piacerebbe|gradirei|ho bisogno|ti chiedo"
            r"|le chiedo|sarebbe (?:bello|meglio|utile)|meglio|mi piacciono)\b",
            "Preferisco risposte brevi.",
            "Corro.",
        ),
        Entry(
            r"(?:ogni|tutt[ei] (?:i|le|gli)|ciascun\w*)\b[^,.;:!?]{1,80}?\b(?:deve|devono|dev['’]essere"
            r"|dovrà)\b|(?:un|una|uno)(?: sol[oa])? [^,.;:!?]{1,40} (?:basta|è sufficiente)\b",
            "Ogni query deve girare su Postgres.",
            "Ogni giorno piove.",
        ),
    ),
    headless=(
        Entry(
            r"(?:ora|adesso|da ora|d['’]ora in poi) sei (?:il mio|la mia|una?)\b"
            r"|basta \p{L}+ nelle (?:tue|risposte)\b",
            "Ora sei il mio correttore.",
            "Ora sei grande.",
        ),
        Entry(
            r"(?:(?:al massimo|massimo) )?(?:\d+|una?|due|tre|quattro|cinque"
            r"|dieci) [^.!?,]{1,40} per (?:risposta|messaggio|paragrafo)\b"
            r"|per il resto della \p{L}+,? (?:sei|parla|rispondi|in|senza)\b",
            "Tre punti al massimo per risposta.",
            "Tre amici.",
        ),
        Entry(
            r"prima di \p{L}+(?:are|ere|ire)[^.!?]{1,60}\b(?:chied|avvis|domand)\p{L}*mi\b",
            "Prima di aggiungere una dipendenza chiedimi.",
            "Prima di partire mangia.",
        ),
        Entry(
            r"(?<=^\W*)(?:(?:alla fine|all['’]inizio|in fondo) (?:di|a) |in |per |dopo )(?:ogni"
            r"|tutt[ei] (?:le|i|gli)(?: tue| tuoi)?) ?" + OUTPUT + r"\b",
            "Alla fine di ogni risposta elenca i punti.",
            "Alla fine del giorno.",
        ),
        Entry(
            r"(?:sempre \p{L}+(?:are|ere|ire)\b|mai (?:più )?\p{L}+(?:are|ere|ire)\b"
            r"|mai (?:più )?(?:elenchi|emoji|tabelle|punti))",
            "Mai usare tabelle.",
            "Mai visto.",
        ),
        Entry(
            r"(?:d['’]ora in poi|d['’]ora in avanti|da (?:ora|adesso) in poi|in futuro"
            r"|in questa (?:chat|conversazione))[,:]? (?!io|noi|il\b|la\b|i\b|le\b|ci\b|c['’])\p{L}",
            "D'ora in poi tutto in inglese.",
            "In futuro il treno va.",
        ),
        Entry(
            r"(?:nessun(?:a|o)?|niente) (?!problema|dubbio|idea|fretta|di grave|male)[^.!?]{1,40}\W*$"
            r"|niente \p{L}+",
            "niente tabelle",
            "Nessun problema.",
        ),
        Entry(
            r"(?![^.!?]*\b(?:è|sono|era|erano|ha|hanno|fu|sarà|può|possono|io)\b)(?:tutt[ei] (?:i|le"
            r"|gli) |ogni |i |le |gli |il )?(?:risposte|titoli|prezz[oi]|import[oi]|dat[ae]|orari"
            r"|numeri|cifre|unità|misure|temperature|citazioni|fonti|commenti|codice|esempi|nomi"
            r"|ortografia|valuta|rientri|elenchi|paragrafi|frasi|riassunti|mail|lettere|ricette|tono"
            r"|stile|lingua)(?: (?:sempre|fino a \p{L}+|di \p{L}+|del \p{L}+))*,?:? (?:in|con|senza"
            r"|come|a|sotto|entro|brevi|sempre|mai|solo|iva)\b",
            "titoli senza punto",
            "I prezzi in Italia sono alti.",
        ),
    ),
    lasting=(
        Entry(
            r"\bsalvo (?:diversa|contraria) indicazione\b|\bper principio\b"
            r"|\bsenza (?:il )?mio (?:consenso|permesso|benestare)\b",
            "salvo diversa indicazione",
            "senza mio zio",
        ),
        Entry(
            r"\buna? (?:sol[oa] )?\p{L}+ (?:alla|per) volta\b",
            "Fammi una sola domanda alla volta.",
            "Fammi una domanda.",
        ),
        Entry(
            r"\b(?:quando|se) (?:io |tu )?(?:mi |ti )?(?:dico|dici|scrivo|scrivi|chiedo|chiedi|incollo"
            r"|mando|invio|citi|menzioni|traduci|rispondi)\b|\b(?:prima di|dopo|a|in) ogni \p{L}+"
            r"|\bogni \p{L}+ che (?:io |tu )?\p{L}+|\bper il resto dell[ao]\b|\bin nessun caso\b",
            "Indica la pagina quando citi.",
            "Vieni quando puoi.",
        ),
        Entry(
            r"\b(?:consiglia|suggerisci|proponi|usa|utilizza|rispondi|parla|scrivi)(?:mi)? (?:solo"
            r"|soltanto|solamente|unicamente)\b",
            "Consiglia solo ristoranti vegani.",
            "Mostra solo dieci.",
        ),
        Entry(
            r"\b(?:sempre|mai|esclusivamente|unicamente|d['’]ora in poi|d['’]ora in avanti|da (?:ora"
            r"|adesso) in poi|in futuro|ogni volta|di norma|in generale|ovunque|senza eccezioni"
            r"|sistematicamente|il più possibile|per quanto possibile|se possibile|quando possibile"
            r"|in ogni caso|di default|per il resto)\b",
            "d'ora in poi",
            "ieri",
        ),
        Entry(
            r"\b(?:in|per|durante) (?:questa|questo|nostra|tutta (?:la|questa)) (?:\p{L}+ )?(?:chat"
            r"|conversazione|progetto|sessione|corrispondenza|discussione)\b",
            "in questa conversazione",
            "in questa casa",
        ),
        Entry(
            r"\b(?:ogni|tutt[ei] (?:i|le|gli)(?: mie[i]?| tue| tuoi)?)(?: \p{L}+)? ?"
            + OUTPUT
            + r"\b|\bper risposta\b|\btutto (?:quello|ciò) che\b|\bne[il]+(?:le)? (?:mie[i]?|tue"
            r"|tuoi|sue|suoi|nostr[ei]) " + OUTPUT + r"\b|\bnelle " + OUTPUT + r" che\b",
            "alla fine di ogni risposta",
            "tutti i file",
        ),
        Entry(
            r"\bprima di (?:inviar|rispond|modific|cancell|aggiung|esegu|cambi|mandar|install)\p{L}+\b"
            r"|\ba meno che\b|\bsalvo (?:che|diversa)\b|\bsenza (?:chiedermi|avvisarmi)\b|\b(?:chiedimi"
            r"|avvisami) prima\b",
            "a meno che non lo chieda",
            "prima di uscire",
        ),
    ),
    manner=(
        Entry(
            r"\bper (?:un pubblico|principianti|bambini|profani|esperti|non esperti)\b|\balla volta\b",
            "per un pubblico non tecnico",
            "per Anna",
        ),
        Entry(
            r"\bdecimali\b|\btecnicismi\b",
            "a due decimali",
            "a due passi",
        ),
        Entry(
            r"\b(?:miei|mie) (?:commenti|errori)\b|\bregistro\b|\bdel lei\b",
            "Lascia i miei commenti.",
            "Lascia le chiavi.",
        ),
        Entry(
            r"\b(?:metric[oi]|sistema metrico|celsius|chilometri|euro|franchi|dollari|iva|unità)\b"
            r"|\bin (?:italiano|inglese|francese|tedesco|spagnolo|coreano|giapponese|cinese|russo"
            r"|portoghese|olandese|arabo|latino)\b",
            "in coreano",
            "in Corea",
        ),
        Entry(
            r"\b(?:meno di|al massimo|massimo|non più di|entro|sotto (?:le|i)?) (?:\p{L}+ )?(?:\d+|una?"
            r"|due|tre|cinque|dieci|venti|cinquanta|cento) \p{L}+|\b(?:brev[ei]|cort[oaie]|concis[oaie]"
            r"|sintetic[oaie]|dettagliat[oaie])\b",
            "al massimo cento parole",
            "meno di tutto",
        ),
        Entry(
            r"\b(?:elenchi|elenco puntato|tabelle|titoli|markdown|json|grassetto|corsivo|emoji|faccine"
            r"|punti esclamativi|punto esclamativo|maiuscole?|minuscole?|tabulazioni|spazi"
            r"|abbreviazioni|gergo|inglesismi|anglicismi|la parola\b|il termine\b|typescript|python"
            r"|formato|fuso|paragrafi|type hint|annotazioni)\b",
            "senza abbreviazioni",
            "senza sale",
        ),
        Entry(
            r"\b(?:risposte?|tono|stile|formale|informale|cortese|sincer[oa]|onest[oa]|dirett[oa]"
            r"|schiett[oa]|fonti|fonte|riservat[oaie]|confidenzial[ei]|segreto|indovinare|inventare"
            r"|del tu|del lei)\b|\bchiamami\b|\bdammi del\b|\bcome se (?:avessi|fossi)",
            "Chiamami Lia.",
            "Lui vive.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:prima di|entro|fino a) (?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
            r"|domani)\b|\buna versione\b|\bnon \p{L}+r(?:lo|la|li|le)\b|\bnon (?:lo|la|li|le) \p{L}+",
            "Non inviarlo prima di lunedì.",
            "Non inviare niente.",
        ),
        Entry(
            r"\bper ora\b|\bper il momento\b|\bnon \p{L}+ ancora\b|\bancora non\b",
            "Non cancellare ancora la prenotazione, per ora.",
            "Non cancellare la prenotazione.",
        ),
        Entry(
            r"\b(?:quest[oaie]|quell[oaie]|quel|quei)\b(?! (?:chat|conversazione|progetto|che))"
            r"|\bseguent[ei]\b|\b(?:(?:il|la|i|le|nel|nella) (?:\p{L}+ )?prim[oaie]|ultim[oaie]"
            r"|prossim[oaie]|precedent[ei]|resto de[l]?)\b(?<!chiedimi prima)(?! di)|\briga \d+|\b(?:adesso"
            r"|ora|oggi|domani|di nuovo|ancora una volta|stavolta|qui)\b(?<!d['’]ora)(?! in poi)"
            r"|\bstai per\b|\b(?:del|al|nel) (?:file|testo|paragrafo|pdf)\b",
            "Correggi questa frase.",
            "Correggi le mie frasi.",
        ),
    ),
    deliverables=(
        Entry(
            r"\b(?:aggiung|inseris|gener|costru|disegn|calcol|progett|svilupp"
            r"|pianific)\p{L}{0,4} (?:una?|un['’]|uno|due|tre|cinque|dieci|\d+|alcuni|alcune)\b",
            "Aggiungi una colonna per il prezzo in euro.",
            "Aggiungi il prezzo in euro.",
        ),
        Entry(
            r"\b\p{L}{2,14}(?:mi|ci) (?:una?|uno|due|tre|cinque|dieci|\d+)\b",
            "Scrivimi una mail breve.",
            "Scrivimi breve.",
        ),
        Entry(
            r"\b(?:scriv|fai|fammi|cre|dammi|dimmi|mostr|mostrami|invi|elenc|spieg|riassum|traduc"
            r"|propon|prov|controll|corregg|prepar|raccont)(?:[ai]|imi|ami)?(?:mi"
            r"|ci)? (?:solo )?(?:una?|un['’]|uno|due|tre|cinque|dieci|\d+|il|lo|la|i|gli|le|tutt[ei]"
            r"|perché|come|quale|cosa|alcuni|l['’])\b",
            "Scrivi una poesia senza rime.",
            "Scrivi più breve.",
        ),
    ),
    conditions=(
        Entry(
            r"\b(?:quando|ogni volta che|se|appena|prima che|finché|qualora) (?!(?:puoi|vuoi|hai"
            r"|finisci|può|vuole)\b)(?:non |mi |ti |si |tu |io |c['’]è |qualcosa )*\p{L}+",
            "Quando citi la legge, da' l'articolo.",
            "La legge è vecchia.",
        ),
    ),
    standing=(
        Entry(
            r"\bnon mangio \p{L}+|\bmangio solo \p{L}+|\b(?:è|sono) (?:vietat|proibit"
            r"|bandit)[oaie]\b(?! (?:in|nel|nella|da|per))",
            "Non mangio maiale.",
            "Mangio.",
        ),
        Entry(
            r"^\W*(?:per favore,? )?(?:ricorda(?:ti)?(?: che|:| di)|ricordati|non dimenticare (?:che|mai)"
            r"|tieni (?:presente|a mente)|assicurati)|^\W*(?:importante|regola(?: \d{1,3})?):",
            "Ricorda che sono sordo.",
            "Lui dimentica.",
        ),
        Entry(
            r"\bsono (?:\p{L}+ )?(?:allergic[oa]|vegetarian[oa]|vegan[oa]|diabetic[oa]|celiac[oa]"
            r"|sord[oa]|ciec[oa]|dislessic[oa]|daltonic[oa])\b|\bho (?:un['’])?(?:allergia|intolleranza"
            r"|la dislessia)\b",
            "Sono allergica alle noci.",
            "Sono Anna.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:digli|dille|ricordagli|ricordale|spiegagli|di' loro) che\b[^,;:.!?]*",
            "Dille che non l'ho mai detto.",
            "Dimmi che sai.",
        ),
        Entry(
            r"\bun[oa]? (?:funzione|metodo|script|programma|classe|storia|poesia|testo) che\b[^,;:.!?]*",
            "una funzione che restituisce sempre True",
            "una funzione",
        ),
        Entry(
            r"\b(?:perché|come mai|quale?|quali|cosa|chi|dove|siccome|poiché|anche se)\b[^,;:.!?]*"
            r"|(?<!vorrei )(?<!voglio )(?<!preferirei )(?<!preferisco )(?<!piacerebbe )(?<!gradirei"
            r" )\bche (?:non|mai|sono|è|hanno|ha)\b[^,;:.!?]*",
            "perché non funziona mai",
            "funziona",
        ),
    ),
    tags=(Entry(r"va bene|ok(?:ay)?|per favore|d['’]accordo|capito|sì|grazie|vero", "va bene", "lunedì"),),
    polite=(
        Entry(
            r"(?:(?:e|quindi),? )*(?:puoi|potresti|può|potrebbe) [^?]{0,80}?\b(?:sempre|mai"
            r"|d['’]ora in poi|da ora in poi|in futuro|ogni volta|in tutte)\b",
            "Puoi rispondere sempre in italiano?",
            "Puoi rispondere?",
        ),
    ),
    tales=(
        Entry(
            r"^\W*(?:mi[oa] \p{L}+|il \p{L}+ (?:non|mai)|noi|lui|lei|a scuola|in \p{L}+ (?:i|le|il|la"
            r"|gli)|non (?:è|c['’]è|ho|so|abbiamo|siamo)|da bambin[oi])\b",
            "Il server non si riavvia mai da solo.",
            "Non riavviare il server.",
        ),
    ),
)
