/** Growth laws in groups, by what they go by, and a search among them. */

import type { Word } from "./core";

/** The groups, with the laws of each by the words before their form. */
export const GROUPS: [string, string[]][] = [
  [
    "By losses",
    [
      "tahoe",
      "reno",
      "newreno",
      "cubic",
      "bic",
      "highspeed",
      "scalable",
      "htcp",
      "hybla",
      "westwood",
    ],
  ],
  ["By losses and delay", ["compound", "illinois", "veno", "yeah"]],
  ["By delay", ["vegas", "nv", "cdg", "copa", "ccp", "ccpd", "playout"]],
  ["By a measured rate", ["bbr", "bbr1", "c4"]],
  ["By marks, or by what routers say", ["dctcp", "rcp", "xcp"]],
  ["In the background", ["lp", "ledbat", "ledbatpp"]],
];

/** Laws that stand in no group, such as those of the reader's own. */
const OTHERS = "Others";

/** The group of a law: `cubic(linux)` is in that of `cubic`. */
export function groupOf(word: string): string {
  const law = word.replace(/\(.*$/, "");
  return GROUPS.find(([, laws]) => laws.includes(law))?.[0] ?? OTHERS;
}

/** The words in which all that is sought occurs: in their name, in what is said of them, or in their group. */
export function found(words: Word[], sought: string): Word[] {
  const parts = sought.toLowerCase().split(/\s+/);
  return words.filter(({ word, help }) => {
    const text = `${word} ${help} ${groupOf(word)}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
}

/** The same words by groups, those of a group in their order; groups of which none is left are left out. */
export function grouped(words: Word[]): [string, Word[]][] {
  return [...GROUPS.map(([group]) => group), OTHERS]
    .map((group): [string, Word[]] => [group, words.filter(({ word }) => groupOf(word) === group)])
    .filter(([, laws]) => laws.length > 0);
}
