/** Page for trying an API without the console, at the rules API's documentation URL and at a network's URL. */
import '../style.css';
import { computed, signal } from '@preact/signals';
import { render } from 'preact';
import { ConfirmHost } from '../ui/form/confirm.tsx';
import { TextField } from '../ui/form/fields.tsx';
import { UntrustedText } from '../ui/value/untrustedText.tsx';
import { type OpenApi, type OpenRpc, restOperations, rpcOperations } from './operations.ts';
import type { Endpoint } from './request.ts';
import { shownText } from './send.ts';
import { TryIt } from './tryIt.tsx';

// The HTML that the server sends (platform/page) contains the element and the link.
const app = document.getElementById('app');
const documentUrl = document.querySelector<HTMLLinkElement>('link[rel="service-desc"]')?.href;
if (app === null || documentUrl === undefined)
  throw new Error('the page has no #app or no service-desc link');

const isRpc = documentUrl.endsWith('/openrpc.json');
/** Base URL of the API. The OpenAPI or OpenRPC document is served directly below this URL. */
const url = new URL('.', documentUrl).href.replace(/\/$/, '');

const secret = signal('');
const account = signal('');
const description = signal<OpenApi | OpenRpc | undefined>(undefined);
const status = signal('Reading the operations…');
const isAnswered = signal(false);
const chosenId = signal(location.hash.slice(1));
addEventListener('hashchange', () => {
  chosenId.value = location.hash.slice(1);
});

const operations = computed(() => {
  const read = description.value;
  if (read === undefined) return [];
  return 'methods' in read ? rpcOperations(read) : restOperations(read, account.value);
});
const endpoint = computed<Endpoint>(() => ({
  url,
  secret: secret.value === '' ? undefined : secret.value,
  variable: isRpc ? 'FLOODGATE_KEY' : 'FLOODGATE_TOKEN',
}));

/** Reads the description of the API. The gateway requires a key for that if any key exists. */
async function readDescription(): Promise<void> {
  try {
    const headers = isRpc && secret.value !== '' ? { authorization: `Bearer ${secret.value}` } : {};
    const response = await fetch(documentUrl ?? '', { headers, credentials: 'omit', cache: 'no-store' });
    const text = await response.text();
    if (response.ok) description.value = JSON.parse(text) as OpenApi | OpenRpc; // the server's own document
    status.value = response.ok
      ? `${operations.value.length} operations to try`
      : `✕ ${response.status}: ${shownText(text)}`;
  } catch (error) {
    status.value = `✕ ${error}`;
  }
  isAnswered.value = true;
}

/** The page. Its status directly follows the title, so that nothing moves when the description arrives. */
function Page() {
  return (
    <main class="page">
      <h1>{document.title}</h1>
      <p role="status">
        <UntrustedText text={status.value} />
      </p>
      {isAnswered.value && (
        <>
          <p class="quiet">
            {description.value?.info.description}{' '}
            <a href={documentUrl}>The {isRpc ? 'OpenRPC' : 'OpenAPI'} document</a>
          </p>
          <Credentials />
          <TryIt
            operations={operations.value}
            chosen={operations.value.find(({ id }) => id === chosenId.value)}
            endpointOf={() => endpoint.value}
            linkTo={({ id }) => (
              <a href={`#${id}`} aria-current={id === chosenId.value ? 'page' : undefined}>
                {id}
              </a>
            )}
          />
        </>
      )}
      <ConfirmHost />
    </main>
  );
}

/** Form for the token or API key, which is stored only in the memory of the page. */
function Credentials() {
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void readDescription();
      }}
    >
      <TextField
        label={isRpc ? 'API key, if the gateway requires one' : 'API token'}
        name="secret"
        type="password"
        text={secret}
      />
      {!isRpc && <TextField label="Account id" name="account" placeholder="acme" text={account} />}
      {isRpc && <button type="submit">Read the methods</button>}
    </form>
  );
}

render(<Page />, app);
void readDescription();
