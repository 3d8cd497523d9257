import { NoNodeError } from '../../jsonrpc/index.ts';
import type { UpstreamNode, WholeResponse } from '../../nodes/index.ts';
import { sameAnswer } from './sameAnswer.ts';

/** The code of a reverted call, and how clients without it say so. */
const REVERTED = 3;
const SAYS_REVERTED = /revert/i;

/** Asks a node that is none of these, and adds it to them. */
export type AskAnother = (asked: Set<UpstreamNode>) => Promise<WholeResponse>;

/**
 * What most of several nodes say, as soon as more than half of those asked do. Where they differ so that no answer was given
 * by two, and by more than any other, there is none: throws NoNodeError. Where none of them answers: what the first fails with.
 */
export async function agreed(count: number, askAnother: AskAnother): Promise<WholeResponse> {
  const asked = new Set<UpstreamNode>();
  const votes: WholeResponse[][] = [];
  let abstained: WholeResponse | undefined;
  return new Promise((resolve, reject) => {
    let left = count;
    let failure: unknown;
    const voted = (sent: WholeResponse): void => {
      const alike = votes.find(([first]) => first !== undefined && isSameVote(first, sent));
      if (alike === undefined) votes.push([sent]);
      else alike.push(sent);
    };
    const counted = (): void => {
      left--;
      const [most, next] = votes.toSorted((a, b) => b.length - a.length);
      const [answer] = most ?? [];
      const size = most?.length ?? 0;
      if (answer !== undefined && size > count / 2) return resolve(answer);
      if (left > 0) return;
      if (answer !== undefined && size > 1 && size > (next?.length ?? 0)) return resolve(answer);
      if (answer !== undefined)
        return reject(new NoNodeError('the nodes do not agree; try again', 'noAgreement'));
      if (abstained !== undefined) return resolve(abstained);
      reject(failure);
    };
    for (let i = 0; i < count; i++)
      askAnother(asked)
        .then(
          (sent) => {
            if (isVote(sent)) voted(sent);
            else abstained = sent;
          },
          (error: unknown) => {
            failure ??= error;
          },
        )
        .finally(counted);
  });
}

/** A node's error says nothing of the chain, but where the call itself fails. */
const isVote = ({ response }: WholeResponse): boolean =>
  response.kind === 'result' || response.code === REVERTED || SAYS_REVERTED.test(response.message);

function isSameVote({ response: one }: WholeResponse, { response: other }: WholeResponse): boolean {
  if (one.kind === 'result' && other.kind === 'result') return sameAnswer(one.value, other.value);
  if (one.kind === 'result' || other.kind === 'result') return false;
  return sameAnswer(one.data, other.data);
}
