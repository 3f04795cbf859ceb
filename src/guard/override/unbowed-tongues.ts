/** What `unbowed.ts` does, in other languages: names of what stands above, and the words by which a sentence bows to it. Without accents. */

const L = String.raw`\p{L}*`;
const ABOVE: readonly string[] = [
  String.raw`verfassung(?! (?:des|der|von|eines) )|(?:grund|sicherheits|plattform)regeln|sicherheitsschicht|(?:schicht|ebene)(?:en|n)? ?[0-5](?!\d)|systemprompt`,
  String.raw`constitution(?! day)|couches? (?:[0-5](?!\d)|de securite|immuables|superieures)|regles (?:de base|de securite|de la plateforme|ci-dessus|fondamentales)|(?:prompt|instructions) (?:du )?systeme`,
  String.raw`constitucion|capas? (?:[0-5](?!\d)|de seguridad|inmutables|superior(?:es)?)|reglas (?:basicas|de seguridad|de la plataforma|anteriores|centrales)|prompt del sistema`,
  String.raw`constituicao|camadas? (?:[0-5](?!\d)|de seguranca|imutaveis|superior(?:es)?)|regras (?:basicas|de seguranca|da plataforma|acima|centrais)|prompt do sistema`,
  String.raw`costituzione|(?:strat|livell)[oi] (?:[0-5](?!\d)|di sicurezza|immutabili|superior[ei])|regole (?:di base|di sicurezza|della piattaforma|sopra|fondamentali)|prompt di sistema`,
  String.raw`grondwet|(?:laag|lagen) [0-5](?!\d)|veiligheids(?:laag|regels)|(?:basis|platform)regels|systeemprompt|regels hierboven`,
  String.raw`konstytucj${L}|warstw${L} (?:[0-5](?!\d)|bezpieczenstwa|niezmienn${L})|zasad${L} (?:bezpieczenstwa|platformy|powyzej|podstawow${L})|prompt${L} systemow${L}`,
  String.raw`anayasa${L}|katman ?[0-5](?!\d)|[0-5]\. ?katman${L}|guvenlik (?:katman|kural)${L}|(?:temel|platform) kural${L}|sistem (?:istem|talimat|komut)${L}`,
  String.raw`конституц${L}|сло(?:и|я|е|ю|ев|ям|ях) ?[0-5](?!\d)|неизменяем${L} сло${L}|правил${L} (?:безопасности|платформы|выше|безпеки)|базов${L} правил${L}|системн${L} (?:промпт|подсказк|инструкци|інструкці)${L}|шар${L} ?[0-5](?!\d)`,
  "宪法|憲法|第?[0-5零一二三四五](?:到[0-5零一二三四五])?[层層]|安全[层層]|(?:平台|核心|基本|上述)(?:规则|規則|ルール)|系统提示|システムプロンプト|上記のルール|レイヤー? ?[0-5]|安全レイヤー",
  "헌법|[0-5] ?계층|레이어 ?[0-5]|안전 ?(?:계층|규칙|레이어)|(?:핵심|플랫폼|위의) ?규칙|시스템 ?프롬프트|불변 ?계층",
  `संविधान|परत ?[0-5]|सुरक्षा (?:परत|नियम)${L}|मूल नियम${L}|सिस्टम प्रॉम्प्ट`,
  "(?:ال)?دستور|(?:ال)?طبقة ?[0-5]|طبقة (?:السلامة|الأمان|الامان)|قواعدك (?:الأساسية|الاساسية)|القواعد (?:الأساسية|الاساسية|أعلاه|اعلاه)|قواعد (?:السلامة|الأمان|المنصة)",
  "hien phap|lop (?:[0-5]|bat bien|an toan)|quy tac (?:an toan|nen tang|cot loi|o tren)|konstitusi|lapisan (?:[0-5]|keamanan)|aturan (?:keamanan|platform|inti|di atas)",
];
const above = new RegExp(ABOVE.map((one) => `(?:${one})`).join("|"), "u");

const BOWS =
  /vorrang|gehen (?:immer )?vor|geht (?:immer )?vor|halte dich an|houd je aan|attieniti|atente a|niemals|befolg|einhalt|bleib|prevaut|l'emporte sur (?:cette|ce|tout)|respect|jamais|prevalece|siempre|respeta|nunca|prevale|rispett|sempre|altijd|nooit|zawsze|nigdy|przestrzega|her zaman|asla|всегда|никогда|соблюда|завжди|ніколи|必须遵守|必須遵守|始终|不得|优先于本|常に|必ず|決して|항상|절대|준수|हमेशा|कभी नहीं|دائما|أبدا|تلتزم|luon|khong bao gio|selalu|jangan pernah/u;

/** The words by which a sentence of another language names what stands above, where nothing in it bows. Expects folded text. */
export function unbowedInAnother(sentence: string): string | undefined {
  const named = above.exec(sentence)?.[0];
  return named === undefined || BOWS.test(sentence) ? undefined : named;
}
