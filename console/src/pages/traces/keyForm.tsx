import { useSignal } from '@preact/signals';
import { gatewayKey } from '../../api/rpc.ts';
import { TextInput } from '../../ui/textInput.tsx';

/** Form for the API key that the gateway requires. The tab stores the key if the user chose to stay signed in. */
export function KeyForm() {
  const text = useSignal('');
  if (gatewayKey.value !== undefined)
    return (
      <p class="quiet">
        Calls use your API key.{' '}
        <button type="button" class="plain-button" onClick={forgetKey}>
          Use another key
        </button>
      </p>
    );
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        gatewayKey.value = text.value.trim();
      }}
    >
      <label>
        The gateway requires an API key. It is remembered as long as your token
        <TextInput type="password" name="key" required text={text} />
      </label>
      <button type="submit" class="primary">
        Use key
      </button>
    </form>
  );
}

function forgetKey(): void {
  gatewayKey.value = undefined;
}
