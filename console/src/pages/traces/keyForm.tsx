import { useSignal } from '@preact/signals';
import { gateway, isGatewayClosed } from '../../api/gateway.ts';
import { setGatewayKey } from '../../api/rpc.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { TextField } from '../../ui/form/fields.tsx';
import { useAction } from '../../ui/useAction.ts';

/** Form for the API key of the gateway, if it requires one. */
export function KeyForm() {
  const text = useSignal('');
  const { failure, run } = useAction();
  const set = async (key: string | undefined) => {
    const outcome = await run(setGatewayKey(key));
    if ('value' in outcome) text.value = '';
  };
  if (gateway.value?.needs_key !== true) return null;
  if (!isGatewayClosed.value)
    return (
      <p class="quiet">
        Calls use your API key.{' '}
        <button type="button" class="plain-button" onClick={() => void set(undefined)}>
          Use another key
        </button>
      </p>
    );
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void set(text.value.trim());
      }}
    >
      <TextField
        label="The gateway requires an API key. Your session keeps it until you sign out"
        type="password"
        name="key"
        required
        text={text}
      />
      <button type="submit" class="primary">
        Use key
      </button>
      {failure && <ErrorBox failure={failure} />}
    </form>
  );
}
