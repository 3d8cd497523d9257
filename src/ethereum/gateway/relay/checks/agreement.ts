import { NoNodeError } from '../../../jsonrpc/index.ts';
import type { UpstreamNode, WholeResponse } from '../../../nodes/index.ts';
import { isSameResult } from './isSameResult.ts';

/** JSON-RPC error code of a reverted call. Some nodes use another code, so the error messages are tested too. */
const REVERTED = 3;
const SAYS_REVERTED = /revert/i;

/** Number of nodes whose responses are compared. Of three nodes, two agree even if one returns a wrong result. */
export const AGREEMENT_NODES = 3;

/** Sends the request to a node that is not in `asked`, and adds the node to `asked`. */
export type AskNextNode = (asked: Set<UpstreamNode>) => Promise<WholeResponse>;

/**
 * Sends a request to several nodes. Resolves with a response as soon as more than half of the nodes returned it.
 * Without such a majority, the largest group of at least two equal responses wins. If all responses are errors of the
 * nodes, resolves with one of them. Rejects with NoNodeError if the nodes disagree, or with the first failure if no
 * node responds.
 */
export async function majorityResponse(count: number, askAnother: AskNextNode): Promise<WholeResponse> {
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

/** Returns true if a response counts for the majority: a result or a reverted call, but no other error. */
const isVote = ({ response }: WholeResponse): boolean =>
  response.kind === 'result' || response.code === REVERTED || SAYS_REVERTED.test(response.message);

function isSameVote({ response: one }: WholeResponse, { response: other }: WholeResponse): boolean {
  if (one.kind === 'result' && other.kind === 'result') return isSameResult(one.value, other.value);
  if (one.kind === 'result' || other.kind === 'result') return false;
  return isSameResult(one.data, other.data);
}
