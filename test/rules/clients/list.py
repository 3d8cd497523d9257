"""Lists the rules of account a with a generated client, then asks for one that is not there."""

import sys

import openapi_client as client

url, token, missing = sys.argv[1:]
rules = client.RulesApi(client.ApiClient(client.Configuration(host=url, access_token=token)))
for rule in rules.list_rules("a").result:
    print(rule.name)
try:
    rules.get_rule("a", missing)
except client.ApiException as error:
    print(error.status)
