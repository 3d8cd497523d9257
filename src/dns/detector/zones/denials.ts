/**
 * How a zone says that a name does not exist. Most answer NXDOMAIN; some answer NODATA for any name (RFC 9824, online signers),
 * and there NODATA does not say that a name exists.
 */
import { AnswerKind } from '../../protocol/index.ts';
import type { LearnedZone } from '../profileStore.ts';

/** Fewer NXDOMAIN than these, or than a quarter of the NODATA for unknown names, are no habit. */
const MIN_NXDOMAINS = 20;
const MIN_NXDOMAIN_SHARE = 0.25;
/** The newest of so many answers count, about. */
const MEMORY = 10_000;

export class Denials {
  /** Answers for unknown names. */
  nxdomains = 0;
  noDatas = 0;
  /** Whether an NSEC record said of a name answered NODATA that it does not exist. */
  byNoData = false;

  /** Notes an answer for an unknown name. */
  note(kind: number): void {
    if (kind === AnswerKind.nxdomain) this.nxdomains++;
    else if (kind === AnswerKind.noData) this.noDatas++;
    else if (kind === AnswerKind.denial) this.byNoData = true;
    if (this.nxdomains + this.noDatas <= MEMORY) return;
    this.nxdomains /= 2;
    this.noDatas /= 2;
  }

  restore({ deniesByNoData = false, nxdomains = 0, noDatas = 0 }: LearnedZone): void {
    this.byNoData = deniesByNoData;
    this.nxdomains = nxdomains;
    this.noDatas = noDatas;
  }

  /** Whether NODATA says that a name exists. */
  get noDataProves(): boolean {
    return (
      !this.byNoData && this.nxdomains >= MIN_NXDOMAINS && this.nxdomains >= MIN_NXDOMAIN_SHARE * this.noDatas
    );
  }
}
