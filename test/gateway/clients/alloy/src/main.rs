//! Uses alloy with its defaults, as an application does, and prints the results as JSON.

use std::{env, error::Error};

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U64, U256, hex},
    providers::{Provider, ProviderBuilder},
    rpc::{
        client::BatchRequest,
        types::{Filter, TransactionRequest},
    },
    signers::local::PrivateKeySigner,
};
use serde_json::json;

/// The call `set(42)`, which logs its argument.
const SET_42: &str = "60fe47b1000000000000000000000000000000000000000000000000000000000000002a";
/// The call `fail()`, which reverts with Error("no").
const FAIL: &str = "a9cc4718";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let [url, key, other, bytecode] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: URL PRIVATE_KEY ADDRESS BYTECODE")?;
    let other: Address = other.parse()?;
    let signer: PrivateKeySigner = key.parse()?;
    let provider = ProviderBuilder::new().wallet(signer).connect_http(url.parse()?);

    let chain_id = provider.get_chain_id().await?;
    let before = provider.get_balance(other).await?;
    let payment = TransactionRequest::default().with_to(other).with_value(U256::from(7));
    let paid = provider.send_transaction(payment).await?.get_receipt().await?;
    let deployment = TransactionRequest::default().with_deploy_code(bytecode.parse::<Bytes>()?);
    let deployed = provider.send_transaction(deployment).await?.get_receipt().await?;
    let contract = deployed.contract_address.ok_or("no contract was made")?;
    let call = |data: &str| -> Result<_, hex::FromHexError> {
        Ok(TransactionRequest::default().with_to(contract).with_input(hex::decode(data)?))
    };
    let stored = provider.send_transaction(call(SET_42)?).await?.get_receipt().await?;
    let first = paid.block_number.ok_or("the payment is in no block")?;
    let logs = provider.get_logs(&Filter::new().address(contract).from_block(first)).await?;
    let reverted = provider.call(call(FAIL)?).await;

    let mut batch = BatchRequest::new(provider.client());
    let number = batch.add_call::<_, U64>("eth_blockNumber", &())?;
    let balance = batch.add_call::<_, U256>("eth_getBalance", &(other, "latest"))?;
    batch.send().await?;
    let (number, after) = (number.await?, balance.await?);

    let seen = json!({
        "chainId": chain_id,
        "statuses": [u8::from(paid.status()), u8::from(stored.status())],
        "received": (after - before).to::<u64>(),
        "logs": logs.iter().map(|log| U256::from_be_slice(&log.data().data).to::<u64>()).collect::<Vec<_>>(),
        "revertsWithReason": reverted.is_err_and(|error| error.to_string().contains("execution reverted: no")),
        "batched": stored.block_number.is_some_and(|block| number.to::<u64>() >= block),
    });
    println!("{seen}");
    Ok(())
}
