import { mapMaybe } from '../../../traces/index.ts';
import type { CallContext, Handler, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';

export const NULL = Buffer.from('null');
/** Result of eth_getCode for an account without code. */
const NO_CODE = Buffer.from('"0x"');
/** Start of the code of an account that delegates to a contract (EIP-7702). Such an account still sends transactions. */
const DELEGATION = '"0xef0100';

/** Returns the handler of ots_hasCode. */
export const otsHasCode =
  (_services: IndexServices, call: NodeCall): Handler =>
  ([address, block], context) =>
    mapMaybe(call('eth_getCode', [address, block ?? 'latest'], context), (code) =>
      Buffer.from(String(!code.equals(NO_CODE))),
    );

/** Returns the kind of code of an account at a block. */
export async function codeKind(
  call: NodeCall,
  [address, blockNumber]: readonly [address: unknown, blockNumber: number],
  context: CallContext,
): Promise<'none' | 'delegation' | 'contract'> {
  const code = await call('eth_getCode', [address, `0x${blockNumber.toString(16)}`], context);
  if (code.equals(NO_CODE)) return 'none';
  const start = code.toString('latin1', 0, DELEGATION.length).toLowerCase();
  return start === DELEGATION ? 'delegation' : 'contract';
}
