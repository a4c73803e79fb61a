/** Sentences to start from, by source language. */
export const examples: Record<string, string[]> = {
  de: [
    'Ich habe gestern im Park einen alten Freund getroffen.',
    'Wenn es morgen regnet, bleiben wir zu Hause.',
    'Könntest du mir bitte sagen, wo der Bahnhof ist?',
    'Das Mädchen, das dort drüben steht, ist meine Schwester.',
  ],
  en: [
    'I met an old friend in the park yesterday.',
    'Why do we work?',
    'If it rains tomorrow, we will stay at home.',
    'Could you please tell me where the station is?',
  ],
  fr: [
    "Hier, j'ai rencontré un vieil ami dans le parc.",
    "S'il pleut demain, nous resterons à la maison.",
    'Pourriez-vous me dire où se trouve la gare ?',
    'Pourquoi travaillons-nous ?',
  ],
  zh: ['我昨天在公园遇见了一位老朋友。', '如果明天下雨，我们就待在家里。', '请问车站在哪里？', '我们为什么工作？'],
};

export const isExample = (text: string): boolean => Object.values(examples).flat().includes(text);
