import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import type { Label } from '../frames/describe.ts';

const WHY = 'Unverified: other functions can have the same selector';

/** Shows the name of a function or event. A question mark follows unless the operator's ABI of the contract has it. */
export function NameText({ name: { text, isUnverified } }: { readonly name: Label }) {
  return (
    <>
      <UntrustedText text={text} />
      {isUnverified && (
        <span class="unverified quiet" title={WHY}>
          ?<span class="unseen"> unverified</span>
        </span>
      )}
    </>
  );
}
