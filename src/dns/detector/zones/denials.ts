/**
 * Learns how a zone denies names. Most zones answer NXDOMAIN if a name does not exist. Some online signers answer
 * NODATA instead (RFC 9824); in their zones, NODATA does not prove that a name exists.
 */
import { AnswerKind } from '../../protocol/index.ts';
import type { LearnedZone } from '../profileStore.ts';

/**
 * Number of NXDOMAIN answers after which a zone counts as denying names by NXDOMAIN. They must also be at least
 * MIN_NXDOMAIN_SHARE times as many as the NODATA answers.
 */
const MIN_NXDOMAINS = 20;
const MIN_NXDOMAIN_SHARE = 0.25;
/** Minimum share of NXDOMAIN in the answers for new names of a zone that denies nearly all of them. */
const MIN_DENIED_SHARE = 0.95;
/** Above this number of counted answers, the two counters are halved, so that recent answers have more weight. */
const MEMORY = 10_000;

export class Denials {
  nxdomains = 0;
  noDatas = 0;
  /** Number of new names that were answered with records. */
  positives = 0;
  /** Whether any NODATA answer from the zone contained an NSEC record that denies the name. */
  byNoData = false;

  /** Counts an answer for an unknown name. */
  note(kind: number): void {
    if (kind === AnswerKind.nxdomain) this.nxdomains++;
    else if (kind === AnswerKind.noData) this.noDatas++;
    else if (kind === AnswerKind.denial) this.byNoData = true;
    this.#halve();
  }

  /** Counts a new name that was answered with records. */
  noteNew(): void {
    this.positives++;
    this.#halve();
  }

  #halve(): void {
    if (this.nxdomains + this.noDatas + this.positives <= MEMORY) return;
    this.nxdomains /= 2;
    this.noDatas /= 2;
    this.positives /= 2;
  }

  restore({ deniesByNoData = false, nxdomains = 0, noDatas = 0, positives = 0 }: LearnedZone): void {
    this.byNoData = deniesByNoData;
    this.nxdomains = nxdomains;
    this.noDatas = noDatas;
    this.positives = positives;
  }

  /**
   * Whether the zone denies nearly all unknown names, so that an answer with records proves a name. A zone that was
   * seeded has no names but those that it lists, until new names show otherwise.
   */
  deniesUnknown(isSeeded: boolean): boolean {
    const answers = this.nxdomains + this.noDatas + this.positives;
    return answers < MIN_NXDOMAINS ? isSeeded : this.nxdomains >= MIN_DENIED_SHARE * answers;
  }

  /** Whether a NODATA answer from this zone proves that the name exists. */
  get noDataProves(): boolean {
    return (
      !this.byNoData && this.nxdomains >= MIN_NXDOMAINS && this.nxdomains >= MIN_NXDOMAIN_SHARE * this.noDatas
    );
  }
}
