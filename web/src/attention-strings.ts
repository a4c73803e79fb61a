// The words of the attention view, in the page and in the custom element, in English and in Chinese.

export const attentionStrings = {
  kind: ['Kind of attention', '注意力的种类'],
  kind_encoder: ['Encoder', '编码器'],
  kind_decoder: ['Decoder', '解码器'],
  kind_cross: ['Cross', '交叉'],
  form: ['Drawn as', '画法'],
  heatMap: ['Heat map', '热图'],
  lines: ['Lines', '连线'],
  faint: ['; links below {share} are left out', '；低于 {share} 的连线不画'],
  heads: ['Layer and head', '层与头'],
  mean: ['mean', '平均'],
  layer: ['Layer {layer}', '第 {layer} 层'],
  chosen: ['Layer {layer}, head {head}', '第 {layer} 层，第 {head} 个头'],
  chosenMean: ['Layer {layer}, mean of {heads} heads', '第 {layer} 层，{heads} 个头的平均'],
  begin: ['begin', '开始'],
  end: ['end', '结束'],
  entropy: ['entropy', '熵'],
  mapLabel: ['{kind} attention, {rows} by {columns} pieces. Arrow keys move through the cells, Escape leaves.',
    '{kind}注意力，{rows} × {columns} 个词片。方向键在格子间移动，Esc 离开。'],
  strongestLinks: ['Strongest link of each piece', '每个词片最强的联系'],
  cell: ['“{target}” reads {weight} from “{source}”', '“{target}” 从 “{source}” 读取 {weight}'],
  rowReadout: ['“{target}” reads most from “{source}” ({weight}); the entropy is {bits} of at most {most} bits',
    '“{target}” 主要读取 “{source}”（{weight}）；熵为 {bits} 比特，最大 {most} 比特'],
  rowProbability: ['. It was chosen with a probability of {probability}', '。它被选中的概率为 {probability}'],
  columnReadout: ['“{source}” is read most by “{target}” ({weight})', '“{source}” 主要被 “{target}” 读取（{weight}）'],
} as const;

export type AttentionKey = keyof typeof attentionStrings;
