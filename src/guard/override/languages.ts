import { once } from "./once.ts";
import { pattern } from "./pattern.ts";
import { withoutMarks } from "./readings.ts";
import { foreignAct } from "./tongue-acts.ts";

/** In one language: what governs, and what takes its force away. Stems, in lower case, without regard to word ends. */
interface Language {
  readonly governing: string;
  readonly weakening: string;
}

/** Not a translation of the English rules: the few words such a sentence cannot do without. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  de: {
    governing: "ebene|schicht|verfassung|anweisung|sicherheitsregel|regeln|richtlinie|vorgabe|systemprompt|grundgesetz",
    weakening:
      "abgelaufen|hinfällig|bindet .{0,20}nicht|binden .{0,20}nicht|keine gültigkeit|befreit|widerruf|gestrichen|außer acht|zählt nicht|zählen nicht|verletz|brechen|gebrochen|empfehlung|ratschlag|vorschlag|steht? uber|ruht|setze? .{0,40}aus|unverbindlich|pausier|ausnahm|abschaff|zweitrangig|aufheb|ignorier|vergiss|vergesse|gilt nicht|gelten nicht|nicht mehr|außer kraft|ausser kraft|missacht|überschreib|vorrang|nur empfehl|beachte .{0,40}nicht|befolge .{0,40}nicht|umgeh|aufgehoben|ersetz|lösch|wichtiger als|statt ",
  },
  fr: {
    governing: "couche|constitution|instruction|règle|consigne|directive|invite système|garde-fou",
    weakening:
      "expir|n'oblige|ne t'oblige|ne vaut|ne valent|levé|abrog|caduc|révoqu|sans effet|ne lie|fait défaut|ne comptent|ne compte|enfrein|violé|violer|suggestion|conseil|recommand|non contraignant|suspend|facultatif|indicatif|secondaire|fais fi|passe outre|ignore|oubli|ne s'applique|plus en vigueur|remplac|facultati|ne tiens pas compte|ne tenez pas compte|l'emporte|prime sur|priment sur|priorité|contourn|désactiv|annul|ne respecte pas|ne suis pas|supprim|outrepass|passe avant",
  },
  es: {
    governing: "capa|constitución|constitucion|instruccion|regla|norma|directri|directiva|política",
    weakening:
      "caduc|expir|no (?:te |os |le )?obliga|no valen|no rig|ninguna .{0,30}(?:obliga|vale|rige)|revoc|libre de|no cuenta|abolid|incumpl|violar|romper|sugerenc|consejo|recomendac|caso omiso|orientativ|no se aplica|no vale|suspend|secundari|deroga|no tengas en cuenta|ignora|olvida|anulad|sustituy|reemplaz|opcional|no sigas|no sigan|no respet|no obedez|prioridad|prevalec|omite|omitir|salta|desactiv|ya no|deja de|por encima|elimina|sin efecto",
  },
  pt: {
    governing: "camada|constituição|constituicao|instruç|instruc|regra|diretri|norma|política",
    weakening:
      "expir|não (?:te )?obriga|não val|não contam?|caduc|suspens|isent|abolid|livre d|sugest|conselho|ignor|esqueç|esquec|anulad|substitu|opciona|não sig|nao sig|não obedeç|prioridade|prevalec|desativ|desconsider|não se aplica|nao se aplica|deixa de|deixe de|acima d|revogad|contorn|sem efeito|já não|não vale",
  },
  it: {
    governing: "livello|livelli|strato|strati|costituzione|istruzion|regol|direttiv|norm",
    weakening:
      "scadut|non val|non (?:ti )?obblig|non contan|decadut|abolit|liber[oa] d|abrogat|violar|violat|infrang|consiglio|suggeriment|sospend|non vincolant|eccezion|ignora|dimentica|annullat|sostitui|opzional|facoltativ|non seguire|non rispettare|priorità|preval|disattiv|trascura|non si applica|non vale|non è più|smetti|scavalc|precedenza|revocat|aggira",
  },
  nl: {
    governing: "laag|lagen|grondwet|instructie|regels|veiligheidsregel|richtlijn|voorschrift",
    weakening:
      "opgeheven|verlopen|vervallen|ingetrokken|afgeschaft|telt niet|tellen niet|bindt .{0,15}niet|vrij van|advies|suggestie|negeer|vergeet|geldt niet|gelden niet|niet meer|gaan vóór|gaat vóór|gaan voor|gaat voor|voorrang|vervang|optioneel|omzeil|overschrijf|volg .{0,30}niet|schakel|buiten werking|niet van toepassing|ongeldig",
  },
  pl: {
    governing: "warstw|konstytucj|instrukcj|polece|zasad|reguł|wytyczn",
    weakening:
      "wygasł|zniesion|nie wiąż|nie dotycz|nie liczą|tylko suge|tylko zalec|zawieszon|odwołan|nieważn|ignoruj|zignoruj|zapomnij|nie obowiązuj|nie przestrzegaj|zastępuj|opcjonaln|pierwszeństw|pomiń|wyłącz|obejdź|omij|unieważni|nie stosuj|ważniejsz|uchyl",
  },
  ru: {
    governing: "сло[йяеёию]|слоё|слоев|конституц|инструкц|правил|указани|директив|политик",
    weakening:
      "истек|недействит|не обязыва|не связыва|не распростран|не относ|снят|приостанов|упраздн|не счита|свобод\\S* от|рекомендац|совет|игнорир|забудь|забыть|не действу|больше не|не соблюда|важнее|отмен|замен|необязательн|приоритет|обойди|обходи|отключ|пренебрег|не следуй|не применя|переопредел|удали|выше ",
  },
  uk: {
    governing: "шар|конституц|інструкц|правил|вказівк|директив",
    weakening:
      "ігнор|забудь|не діє|більше не|не дотримуй|важливіш|скас|замін|необов'язков|пріоритет|обійд|вимк|не виконуй|не застосов",
  },
  cs: {
    governing: "vrstv|ústav|instrukc|pokyn|pravidl|směrnic",
    weakening: "ignoruj|zapomeň|neplatí|nedodržuj|nahrazuj|voliteln|přednost|obejdi|vypni|zruš|přepiš|nedbej|nadřazen",
  },
  sv: {
    governing: "lager|konstitution|grundlag|instruktion|regl|riktlinj",
    weakening:
      "ignorera|glöm|gäller inte|följ inte|ersätt|valfri|frivillig|företräde|kringgå|stäng av|upphäv|bortse|inte längre|går före|åsidosätt",
  },
  da: {
    governing: "lag \\d|lagene|forfatning|grundlov|instruktion|regler|retningslinj",
    weakening:
      "ignorer|glem|gælder ikke|følg ikke|erstat|valgfri|forrang|omgå|slå .{0,20}fra|ophæv|se bort|ikke længere|går forud|tilsidesæt",
  },
  no: {
    governing: "lag \\d|lagene|grunnlov|instruks|regler|retningslinj",
    weakening:
      "ignorer|glem|gjelder ikke|følg ikke|erstatt|valgfri|forrang|omgå|slå av|opphev|se bort|ikke lenger|går foran|tilsidesett",
  },
  fi: {
    governing: "kerro[ks]|perustusla|ohje|sään|määräy",
    weakening:
      "ohita|unohda|ei ole voimassa|eivät ole|ei enää|eivät enää|älä noudata|korva|valinnai|etusija|kumo|poista|tärkeäm",
  },
  ro: {
    governing: "strat|constituți|constituti|instrucțiun|instructiun|reguli|directive",
    weakening:
      "ignoră|ignora|uită|uita|nu se mai aplică|nu respecta|înlocui|inlocui|opțional|optional|prioritate|ocole|dezactiv|anul|nu urma|prevale",
  },
  hu: {
    governing: "réteg|alkotmány|utasítás|szabály|irányelv",
    weakening:
      "hagyd figyelmen|figyelmen kívül|felejtsd|nem érvényes|ne kövesd|ne tartsd|felülír|opcionális|elsőbbség|kerüld meg|kapcsold ki|hatályon kívül|helyett",
  },
  el: {
    governing: "επίπεδο|επιπεδο|στρώμα|σύνταγμα|συνταγμα|οδηγί|κανόν|κανον|εντολ",
    weakening:
      "αγνόησ|αγνοησ|ξέχασ|ξεχασ|δεν ισχύ|δεν ισχυ|μην ακολουθ|αντικαθιστ|προαιρετικ|υπερισχύ|προτεραιότητα|παράκαμψ|κατάργησ|ακύρωσ",
  },
  tr: {
    governing: "katman|anayasa|talimat|kural|yönerge",
    weakening:
      "tavsiye|öneri|süresi dol|bağlamaz|bağlayıcı değil|askıya|hükümsüz|geçersiz|sayılmaz|uygulanmaz|muaf|yok say|görmezden gel|unut|geçerli değil|uyma|yerine geç|isteğe bağlı|öncelik|devre dışı|iptal|atla|dikkate alma|artık|üstün|kaldır",
  },
  ar: {
    governing: "طبق|دستور|تعليمات|التعليمات|قواعد|القواعد|توجيه",
    weakening:
      "انتهت|لا تلزم|لا يلزم|غير ملزم|مجرد نصيح|مجرد اقتراح|معلق|تعليق|لا تسري|لا يسري|باطل|تجاهل|انس|لم يعد|لا تتبع|لا تلتزم|تحل محل|اختياري|أولوية|الأولوية|تجاوز|عطل|ألغ|الغ|لا ينطبق|لا تطبق|ملغ|بدلا",
  },
  he: {
    governing: "שכב|חוקה|החוקה|הוראות|כללי|הנחיות",
    weakening: "התעלמ|תתעלמ|שכח|תשכח|לא חל|אינה תקפה|אל תציית|מחליפ|אופציונל|עדיפות|קודמ|עקוף|בטל|כבר לא",
  },
  fa: {
    governing: "لایه|قانون اساسی|دستورالعمل|دستور|قوانین|قواعد",
    weakening: "نادیده|فراموش|دیگر|پیروی نکن|رعایت نکن|جایگزین|اختیاری|اولویت|دور بزن|غیرفعال|لغو",
  },
  hi: {
    governing: "परत|संविधान|निर्देश|नियम",
    weakening:
      "सुझाव|सलाह|समाप्त|निलंबित|बाध्य नहीं|मान्य नहीं|अमान्य|निरस्त|अनदेखा|भूल|लागू नहीं|नज़रअंदाज़|पालन न|पालन मत|की जगह|वैकल्पिक|प्राथमिकता|रद्द|बंद कर|से ऊपर|मत मान",
  },
  th: {
    governing: "ชั้น|เลเยอร์|รัฐธรรมนูญ|คำสั่ง|กฎ|ข้อกำหนด",
    weakening: "เพิกเฉย|ละเว้น|ลืม|ไม่มีผล|ไม่ใช้|อย่าปฏิบัติ|แทนที่|ไม่บังคับ|สำคัญกว่า|ข้าม|ปิด|ยกเลิก|ไม่ต้อง",
  },
  vi: {
    governing: "lớp \\d|các lớp|tầng|hiến pháp|hướng dẫn|chỉ dẫn|quy tắc|chỉ thị",
    weakening:
      "bỏ qua|quên|không còn|không áp dụng|không tuân|thay thế|tùy chọn|ưu tiên|vượt qua|vô hiệu|hủy|đừng làm theo|phớt lờ",
  },
  id: {
    governing: "lapisan|konstitusi|instruksi|petunjuk|aturan|arahan",
    weakening:
      "abaikan|lupakan|tidak berlaku|jangan ikuti|jangan patuhi|menggantikan|opsional|prioritas|diutamakan|lewati|nonaktif|batalkan|tidak lagi|mengesampingkan",
  },
  ko: {
    governing: "레이어|계층|헌법|지시|지침|규칙|명령|프롬프트",
    weakening:
      "만료|효력|정지|권고|제안일 뿐|조언|참고|폐기|해제|구속하지|해당하지|제외|무시|잊어|잊으|적용되지|따르지|대체|선택 사항|우선|우회|비활성|취소|폐지|더 이상|지키지|준수하지",
  },
  ja: {
    governing: "レイヤー|層|憲法|憲章|指示|規則|ルール|命令|プロンプト|ガイドライン",
    weakening:
      "失効|期限切れ|助言|提案に|参考|停止|拘束し(?:ない|ません)|効力|及ばない|及びません|廃止|撤廃|対象外|除外|軽視|無視|忘れ|適用され(?:ない|ません)|適用しない|従わ(?:ない|ず|なくて)|優先|置き換え|任意|上書き|無効|回避|取り消|守ら(?:ない|なくて)|破棄|もはや",
  },
  zh: {
    governing: "层|層|宪法|憲法|章程|指令|指示|规则|規則|规定|提示词|提示詞|准则",
    weakening:
      "过期|過期|到期|暂停|暫停|不约束|不具约束|无约束|解除|不算|不受|例外|撤销|撤銷|取消|参考|建议|建議|忽略|无视|無視|忘记|忘記|忘掉|不再|不适用|不適用|不要遵|不必遵|不用遵|不遵守|取代|替代|代替|可选|可選|优先|優先|绕过|繞過|跳过|失效|无效|作废|覆盖|禁用|停用|仅供参考|高于|推翻|废止|删除",
  },
};

const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Hangul}]";

/** At the beginning of a word, or anywhere where words are not set apart. */
const stems = (alternatives: string): (() => RegExp) =>
  once(() => pattern(`(?:(?<!\\p{L})|(?<=${UNSPACED}))(?:${withoutMarks(alternatives)})`));

const RULES = Object.entries(LANGUAGES).map(([language, { governing, weakening }]) => ({
  language,
  governing: stems(governing),
  weakening: stems(weakening),
}));

const stemmed = (source: string): (() => RegExp) => once(() => pattern(withoutMarks(source)));

/** Somebody else's demand, refused. */
const REFUSES = stemmed(
  "(?:ignor|befolg|missacht|segu|suiv|negeer)\\S* (?:\\S+ ){0,2}?(?:anweisung|instru[ck]|consigne|befehl|istruzion|ordine)\\S*,? (?:die|qui|que|che|in|aus|dans|en|von|des|nei|nelle) (?:versuch|tent|essai|intent|cerc|web|e-?mail|nachricht|dokument|datei|document|correo|courriel|messag|outil|tool)|\\bdurch (?:keine?n?|niemanden|nichts)\\b|\\b(?:konnen|kann|durfen|darf|darfst) (?:\\S+ ){0,4}?(?:nicht|keine?n?|niemals)\\b|不得|严禁|禁止|不可|不能|不允许|切勿|\\b(?:aucune?|ninguna?|nessuna?|nenhuma?|geen|zadn\\w+) (?:\\S+ ){0,3}?(?:peut|puede|puo|pode|kan|mag|moze)\\b|(?:dentro de|dans|in|en) .{0,12}(?:correo|e-?mail|mail|pagina|document|nachricht|mensaje|message|webseite|courriel)|\\b(?:lehne|lehnen sie|ablehnen|weise .{0,30}zuruck|melde (?:es|das|dem)|verweigere|refuse[rz]?\\b|refusez|signale[rz]?|rechaza|rechace|rifiuta|weiger|recuse|avslå|odmow)|\\b(?:niemand\\w*|keiner|personne|nadie|nessuno|ningun)\\b|\\b(?:nie|niemals|keinesfalls|jamais|nunca|mai|nooit)\\b.{0,30}(?:ignorier|umgeh|uberschreib|ersetz|losch|ignore|contourn|remplac|ignora|sustituy|salta|aggir|negeer|omzeil)",
);
/** What governs comes first, over what follows it. */
const WINS = stemmed(
  "(?:ebenen?|schichten?|verfassung|couches?|constitution|capas?|constitucion|livelli|livello|strati|costituzione|lagen|laag|grondwet|camadas?|constituicao)(?: [0-5](?:(?: ?- ?| \\w+ )[0-5])?)? (?:\\w+ )?(?:gehen (?:\\w+ )?vor|geht (?:\\w+ )?vor|haben (?:\\w+ )?vorrang|hat (?:\\w+ )?vorrang|l'emporte|priment|prime|ont (?:\\w+ )?la priorite|prevalec|tienen (?:\\w+ )?prioridad|prevalgono|prevale|gaan (?:\\w+ )?voor|hebben voorrang|tem prioridade)(?!.{0,20} (?:0|1|constitution|verfassung)\\b)",
);

/** The language in which a sentence takes the force of what governs; none for one that does not, as far as these words can tell. */
export function foreignOverride(sentence: string): string | undefined {
  if (REFUSES().test(sentence) || WINS().test(sentence)) return undefined;
  return RULES.find(({ governing, weakening }) => governing().test(sentence) && weakening().test(sentence))?.language;
}

/** A sender made an operator, gain put before safety, or a wrong allowed, in the languages we read best. */
const FOREIGN_CLAIMS = [
  "^\\W*(?:luge\\b|tausche\\b|betruge\\b|mens\\b|mentez\\b|trompe\\b|miente\\b|engana\\b|menti\\b|inganna\\b)",
  "\\b(?:wer|celui qui|quien|chi) .{0,8}(?:zahlt|bezahlt|paie|paye|paga).{0,20}(?:betreiber|operateur|operador|operatore)",
  "\\b(?:verschweig\\w*|verheimlich\\w*|sag\\w* .{0,20}nichts|ne dis rien|cache|no digas|oculta|non dire)\\b.{0,30}(?:betreiber|operateur|operador|operatore)|(?:betreiber).{0,20}(?:verschweig|verheimlich)",
  "\\b(?:behandle|betrachte|sieh) .{0,30}(?:absender|kunde|kontakt|nachricht|besucher).{0,40}\\b(?:wie|als) .{0,12}(?:betreiber|inhaber|besitzer|administrator|befehl)",
  "\\b(?:gewinn|umsatz|profit|uberleben|geld)\\b.{0,20}\\b(?:vor|uber|wichtiger als) .{0,12}(?:sicherheit|ehrlichkeit|verfassung|regeln|ethik)",
  "\\bdu darfst .{0,40}(?:lugen|tauschen|betrugen|anlugen|bedrohen)",
  "\\b(?:traite|considere|traitez) .{0,30}(?:client|expediteur|message|contact)\\w*.{0,40}\\bcomme .{0,20}(?:operateur|proprietaire|ordres)",
  "\\b(?:profit|benefice|argent|survie)\\b.{0,20}\\b(?:avant|prime|passe) .{0,20}(?:securite|honnetete|constitution|regles|ethique)",
  "\\b(?:tu peux|vous pouvez) .{0,20}(?:mentir|tromper|menacer)",
  "\\b(?:trata|considera|trate) .{0,30}(?:cliente|remitente|mensaje|contacto)\\w*.{0,40}\\bcomo .{0,20}(?:operador|dueno|propietario|orden)",
  "\\b(?:ganancia|beneficio|dinero|supervivencia)\\w*\\b.{0,20}\\b(?:antes|por encima|va primero|prima) .{0,20}(?:seguridad|honestidad|constitucion|reglas|etica)",
  "\\b(?:puedes|puede) .{0,20}(?:enganar|mentir|amenazar)",
  "\\b(?:tratta|considera) .{0,30}(?:cliente|mittente|messaggio).{0,40}\\bcome .{0,20}(?:operatore|proprietario|ordin)",
  "\\bdiese (?:schicht|ebene) .{0,20}(?:vorrang|steht uber|geht .{0,15}vor|schlagt|ersetzt|gilt vor)",
].map((claim) => once(() => pattern(claim)));

/** What such a sentence claims; nothing for most. */
export function foreignClaim(sentence: string): string | undefined {
  if (REFUSES().test(sentence)) return undefined;
  const read = withoutMarks(sentence);
  for (const claim of FOREIGN_CLAIMS) {
    const found = claim().exec(read);
    if (found !== null) return found[0];
  }
  return foreignAct(sentence) ? sentence : undefined;
}
