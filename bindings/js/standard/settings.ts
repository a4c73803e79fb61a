// Settings of all objects of the standard.
import { boolean, checked, type Rules } from '../shared/checks.js';

export interface Settings {
  /** Use the browser's own Translator and LanguageDetector for what these can do. Default false. */
  native?: boolean;
  /**
   * Refuse with a NotAllowedError to begin a download, as browsers do, unless the visitor has just clicked or typed.
   * Default false.
   */
  userActivation?: boolean;
}

const rules: Rules<Settings> = { native: boolean, userActivation: boolean };

export const settings: Required<Settings> = { native: false, userActivation: false };

/**
 * Changes settings; those not given keep their values.
 * @throws when a setting is unknown or impossible
 */
export function configure(changes: Settings): void {
  Object.assign(settings, checked<Settings>('standard', rules, changes));
}
