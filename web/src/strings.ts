// Every word of the user interface. {name} is replaced by a value.

const en = {
  tagline: 'A Transformer, translating in this tab',
  what: 'What is this?',
  toDark: 'Dark',
  toLight: 'Light',
  theme: 'Switch to {theme}',
  otherLanguage: '中文',
  switchLanguage: 'Sprache der Oberfläche: Chinesisch / 切换到中文',

  sourceHint: 'Type a sentence in {language}',
  examples: 'Try',
  clear: 'Clear',
  copy: 'Copy',
  copied: 'Copied',
  piecesOf: 'Pieces of the translation; arrow keys move from one to the next',
  translating: 'Translating…',
  waiting: 'The translation appears here as soon as the model has loaded.',
  empty: 'The translation appears here.',

  alternatives: 'Other translations it considered',
  alternativesNote: 'Score: log-probability over length penalty; nearer to 0 is better.',

  model: 'Model',
  loading: 'Loading the model: {loaded} of {total}',
  loadingUnknown: 'Loading the model: {loaded}',
  cancel: 'Cancel',
  cancelled: 'Loading was cancelled.',
  retry: 'Try again',
  loadFailed: 'The model could not be loaded: {reason}.',
  noModels: 'No model is here: put one as public/models/de-en.safetensors and build the page again.',
  translateFailed: 'This could not be translated: {reason}.',
  parameters: '{count} parameters',
  build_relaxed: 'relaxed SIMD',
  build_simd: 'SIMD',
  threads: '{count} threads',
  thread: '1 thread',
  speed: '{count} tokens/s',
  speedNote: 'English pieces chosen a second, over the whole search',

  attention: 'Attention',
  attentionLead:
    'Each row is one step of writing. To choose the piece on the left, the decoder looked back at the {language} sentence; the stronger the colour, the more it took from that piece.',
  attentionNote:
    'This shows where information was read, not why a word was chosen: attention is not an explanation, and heads differ.',
  attentionEmpty: 'The map appears with the first translation.',
  heads: 'Layer and head',
  mean: 'mean',
  layer: 'Layer {layer}',
  chosen: 'Layer {layer}, head {head}',
  chosenMean: 'Layer {layer}, mean of {heads} heads',
  end: 'end',
  mapLabel:
    'Heat map, {rows} {target} pieces by {columns} {source} pieces. Arrow keys move through the cells, Escape leaves.',
  heatMap: 'heat map',
  strongestLinks: 'Strongest link of each piece',
  cell: '“{target}” reads {weight} from “{source}”',
  rowReadout: '“{target}” reads most from “{source}” ({weight}), and was chosen with a probability of {probability}',
  columnReadout: '“{source}” is read most by “{target}” ({weight})',
  hoverHint: 'Point at a word, a piece or a cell.',

  aboutTitle: 'What is this?',
  about1:
    'The page runs the encoder-decoder network of the paper {paper} (Vaswani et al., 2017). It was written from scratch in C++, trained natively, and compiled to WebAssembly: nothing you type leaves this tab.',
  about2:
    'A sentence is cut into pieces. The encoder reads all of them at once; the decoder writes the translation one piece at a time, and looks back at the source at every step. The map shows those looks.',
  about3: 'It is a small model. It knows everyday sentences, makes mistakes, and is here to be watched, not trusted.',
  paper: 'Attention Is All You Need',
  modelCard: 'The model',
  layersCard: '{encoder} encoder and {decoder} decoder layers, {heads} heads, width {width}',
  size: 'Size',
  shape: 'Shape',
  vocabulary: 'Vocabulary',
  pieces: '{count} pieces',
  card_corpus: 'Corpus',
  card_licence: 'Licence',
  card_steps: 'Training steps',
  card_bleu: 'BLEU, test part',
  card_chrf: 'chrF2, test part',
  card_valid_bleu: 'BLEU, validation part',
  credits: 'Credits',
  corpusCredit: 'Sentence pairs: Tatoeba (tatoeba.org), CC BY 2.0 FR.',
  fontCredit: 'Typefaces: Literata and Source Sans 3, SIL Open Font License 1.1.',
};

export type Key = keyof typeof en;
export type Locale = 'en' | 'zh';

const zh: Record<Key, string> = {
  tagline: '在此标签页内运行的 Transformer 翻译',
  what: '这是什么？',
  toDark: '深色',
  toLight: '浅色',
  theme: '切换到{theme}',
  otherLanguage: 'English',
  switchLanguage: 'Switch to English',

  sourceHint: '输入一个{language}句子',
  examples: '试试',
  clear: '清空',
  copy: '复制',
  copied: '已复制',
  piecesOf: '译文的词片；用方向键逐个移动',
  translating: '正在翻译……',
  waiting: '模型载入后，译文会显示在这里。',
  empty: '译文会显示在这里。',

  alternatives: '其他候选译文',
  alternativesNote: '分数：所有词片的对数概率之和除以长度惩罚；越接近 0 越好。',

  model: '模型',
  loading: '正在载入模型：{loaded} / {total}',
  loadingUnknown: '正在载入模型：{loaded}',
  cancel: '取消',
  cancelled: '已取消载入。',
  retry: '重试',
  loadFailed: '无法载入模型：{reason}。',
  noModels: '这里没有模型：请放入 public/models/de-en.safetensors 并重新构建页面。',
  translateFailed: '无法翻译：{reason}。',
  parameters: '{count} 个参数',
  build_relaxed: '宽松 SIMD',
  build_simd: 'SIMD',
  threads: '{count} 个线程',
  thread: '1 个线程',
  speed: '每秒 {count} 个词片',
  speedNote: '整个搜索过程中每秒选定的英语词片数',

  attention: '注意力',
  attentionLead: '每一行是写出译文的一步。为了选出左边的词片，解码器回看{language}句子；颜色越强，从该词片读取得越多。',
  attentionNote: '它显示信息从哪里读取，而不是为什么选择某个词：注意力不是解释，各个头也各不相同。',
  attentionEmpty: '第一次翻译后显示注意力图。',
  heads: '层与头',
  mean: '平均',
  layer: '第 {layer} 层',
  chosen: '第 {layer} 层，第 {head} 个头',
  chosenMean: '第 {layer} 层，{heads} 个头的平均',
  end: '结束',
  mapLabel: '热图，{rows} 个{target}词片 × {columns} 个{source}词片。方向键在格子间移动，Esc 离开。',
  heatMap: '热图',
  strongestLinks: '每个词片最强的联系',
  cell: '“{target}” 从 “{source}” 读取 {weight}',
  rowReadout: '“{target}” 主要读取 “{source}”（{weight}），被选中的概率为 {probability}',
  columnReadout: '“{source}” 主要被 “{target}” 读取（{weight}）',
  hoverHint: '请指向一个词、词片或格子。',

  aboutTitle: '这是什么？',
  about1:
    '本页运行论文 {paper}（Vaswani 等，2017）中的编码器-解码器网络。它用 C++ 从零写成，在本机训练，再编译为 WebAssembly：您输入的内容不会离开此标签页。',
  about2: '句子先被切成词片。编码器一次读入全部词片；解码器一次写出一个词片，每一步都回看原文。热图显示的正是这些回看。',
  about3: '这是一个小模型。它懂日常句子，也会出错；它供人观察，而不是供人信赖。',
  paper: 'Attention Is All You Need',
  modelCard: '模型',
  layersCard: '{encoder} 层编码器、{decoder} 层解码器，{heads} 个头，宽度 {width}',
  size: '大小',
  shape: '结构',
  vocabulary: '词表',
  pieces: '{count} 个词片',
  card_corpus: '语料库',
  card_licence: '许可证',
  card_steps: '训练步数',
  card_bleu: 'BLEU（测试集）',
  card_chrf: 'chrF2（测试集）',
  card_valid_bleu: 'BLEU（验证集）',
  credits: '致谢',
  corpusCredit: '句对：Tatoeba (tatoeba.org)，CC BY 2.0 FR。',
  fontCredit: '字体：Literata 与 Source Sans 3，SIL Open Font License 1.1。',
};

export const strings: Record<Locale, Record<Key, string>> = { en, zh };

export function fill(template: string, values: Record<string, string | number> = {}): string {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Sentences to start from, by source language. */
export const examples: Record<string, string[]> = {
  de: [
    'Ich habe gestern im Park einen alten Freund getroffen.',
    'Wenn es morgen regnet, bleiben wir zu Hause.',
    'Könntest du mir bitte sagen, wo der Bahnhof ist?',
    'Das Mädchen, das dort drüben steht, ist meine Schwester.',
  ],
};
