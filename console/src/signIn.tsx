import { useSignal } from '@preact/signals';
import { isRemembered, remember, signIn, signInFailure } from './session.ts';
import { ErrorBox } from './ui/errorBox.tsx';
import { TextInput } from './ui/textInput.tsx';

export function SignIn() {
  const token = useSignal('');
  const isBusy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    await signIn(token.value);
    isBusy.value = false;
  };
  return (
    <main class="sign-in" id="page">
      <h1>Floodgate</h1>
      <p class="quiet">
        Sign in with a token of the rules API. It is kept in the memory of this tab, and sent to this server
        only.
      </p>
      {signInFailure.value && <ErrorBox failure={signInFailure.value} />}
      <form onSubmit={submit}>
        <label>
          Token
          <TextInput type="password" name="token" required text={token} />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isRemembered.value}
            onChange={(event) => remember(event.currentTarget.checked)}
          />
          Remember it until this tab is closed
        </label>
        <button type="submit" class="primary" disabled={isBusy.value}>
          Sign in
        </button>
      </form>
      <p class="quiet">
        No token? <code>floodgate token create --account NAME</code> creates one; <code>npm start</code>{' '}
        prints a link that signs you in.
      </p>
    </main>
  );
}
