// The reader's answers, which this browser keeps.
import { remember, remembered } from '../../shell/settings.svelte';
import { CHOICES, STOPS, type Answer, type StopId } from './stops';

const KEY = 'lecture';
type Answers = Partial<Record<StopId, Answer>>;

/** Answers of an earlier visit, as far as the lecture still has their stops. */
function read(text: string | null): Answers {
  try {
    const kept = Object(JSON.parse(text ?? '{}')) as Record<string, unknown>;
    const known = STOPS.filter(({ id }) => CHOICES.includes(kept[id] as Answer));
    return Object.fromEntries(known.map(({ id }) => [id, kept[id]]));
  } catch {
    return {};
  }
}

export class Score {
  #own = $state.raw<Answers>(read(remembered(KEY)));
  /** What a class answers while somebody presents; it begins with none, and none is kept. */
  #ofClass = $state.raw<Answers | null>(null);
  /** The first answer to each question: it counts. */
  readonly answers = $derived(this.#ofClass ?? this.#own);
  readonly answered = $derived(Object.keys(this.answers).length);
  readonly right = $derived(STOPS.filter((stop) => this.answers[stop.id] === stop.right).length);

  answer(id: StopId, answer: Answer) {
    if (this.answers[id]) return;
    this.#keep({ ...this.answers, [id]: answer });
  }

  startOver() {
    this.#keep({});
  }

  present(isPresented: boolean) {
    this.#ofClass = isPresented ? {} : null;
  }

  #keep(answers: Answers) {
    if (this.#ofClass) {
      this.#ofClass = answers;
      return;
    }
    this.#own = answers;
    remember(KEY, JSON.stringify(answers));
  }
}

export const createScore = () => new Score();
