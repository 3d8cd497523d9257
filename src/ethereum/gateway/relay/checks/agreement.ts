import { NoNodeError } from '../../../jsonrpc/index.ts';
import type { UpstreamNode, WholeResponse } from '../../../nodes/index.ts';
import { isSameResult } from './isSameResult.ts';

/** JSON-RPC error code of a reverted call. Some nodes use another code, so their messages are tested too. */
const REVERTED = 3;
const SAYS_REVERTED = /revert/i;

/** Number of nodes that are queried. With three nodes, a majority remains if one of them returns a wrong result. */
export const AGREEMENT_NODES = 3;

/** Sends the request to a node that is not in `asked`, and adds the node to `asked`. */
export type AskNextNode = (asked: Set<UpstreamNode>) => Promise<WholeResponse>;

/**
 * Queries several nodes, and returns a response as soon as more than half of them agree. Without such a majority, the
 * largest group of at least two equal responses wins. If all responses are node errors, returns one of them. Throws
 * NoNodeError if the nodes disagree, or the first failure if no node responds.
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

/** Errors do not count for the majority, except a reverted call, because it is a result of the call itself. */
const isVote = ({ response }: WholeResponse): boolean =>
  response.kind === 'result' || response.code === REVERTED || SAYS_REVERTED.test(response.message);

function isSameVote({ response: one }: WholeResponse, { response: other }: WholeResponse): boolean {
  if (one.kind === 'result' && other.kind === 'result') return isSameResult(one.value, other.value);
  if (one.kind === 'result' || other.kind === 'result') return false;
  return isSameResult(one.data, other.data);
}
