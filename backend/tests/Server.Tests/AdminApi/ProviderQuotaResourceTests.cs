using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Data caps of providers through the API (HLT-100, HLT-106).</summary>
public sealed class ProviderQuotaResourceTests : IDisposable
{
    private const long Limit = 1_000_000_000_000;

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Cap_is_saved_kept_changed_and_removed()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var added = await server.SendAsync(HttpMethod.Post, "providers", Draft(new JsonObject { ["byteLimit"] = Limit, ["resetDay"] = 4 }));
        Assert.Equal((Limit, 4, 20, "free", 0, Limit), Shown(added));
        Assert.Null(added["quota"]!["lastsUntil"]);
        Assert.InRange(added["quota"]!["daysUntilReset"]!.GetValue<int>(), 1, 31);
        var path = $"providers/{added["id"]}";

        Assert.Equal((Limit, 4, 20, "free", 0, Limit), Shown(await server.SendAsync(HttpMethod.Put, path, Draft(null))));
        var used = new JsonObject { ["byteLimit"] = Limit, ["resetDay"] = 0, ["reservePercent"] = 5, ["usedBefore"] = Limit * 96 / 100 };
        Assert.Equal((Limit, 0, 5, "fill-only", Limit * 96 / 100, Limit * 4 / 100), Shown(await server.SendAsync(HttpMethod.Put, path, Draft(used))));
        Assert.Equal((Limit, 0, 0, "free", Limit * 96 / 100, Limit * 4 / 100), Shown(await server.SendAsync(HttpMethod.Put, path, Draft(new JsonObject { ["byteLimit"] = Limit }))));

        Assert.Null((await server.SendAsync(HttpMethod.Put, path, Draft(new JsonObject { ["byteLimit"] = 0 })))["quota"]);
        Assert.Null(server.Server.Services.GetRequiredService<ProviderHost>().Providers.Single().Options.Quota);
    }

    [Fact]
    public async Task Errors_of_a_cap_are_returned_by_form_field()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var wrong = new JsonObject { ["byteLimit"] = -1, ["resetDay"] = 29, ["reservePercent"] = 91, ["usedBefore"] = long.MaxValue };

        var errors = (await server.SendAsync(HttpMethod.Post, "providers", Draft(wrong), HttpStatusCode.BadRequest))["errors"]!.AsObject();

        Assert.Equal(["byteLimit", "reservePercent", "resetDay", "usedBefore"], errors.Select(static error => error.Key).Order());
        Assert.Equal("Must be a whole number from 0 to 28.", errors["resetDay"]![0]!.GetValue<string>());
        Assert.Empty((await server.GetAsync("providers"))["items"]!.AsArray());
    }

    [Fact]
    public async Task Refill_adds_to_the_cap_and_reset_begins_again()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var quota = new JsonObject { ["byteLimit"] = Limit, ["usedBefore"] = Limit };
        var added = await server.SendAsync(HttpMethod.Post, "providers", Draft(quota));
        Assert.Equal((Limit, 0, 0, "spent", Limit, 0), Shown(added));
        var path = $"providers/{added["id"]}";

        var refilled = await server.SendAsync(HttpMethod.Post, path + "/refill", new JsonObject { ["bytes"] = Limit / 2 });
        Assert.Equal((Limit, 0, 0, "free", Limit, Limit / 2), Shown(refilled));
        Assert.Equal(Limit * 3 / 2, refilled["quota"]!["limit"]!.GetValue<long>());
        Assert.Equal((Limit, 0, 0, "free", 0, Limit), Shown(await server.SendAsync(HttpMethod.Post, path + "/reset", new JsonObject { ["what"] = "bytes" })));

        foreach (var bytes in new[] { 0, -1, long.MaxValue })
            await server.SendAsync(HttpMethod.Post, path + "/refill", new JsonObject { ["bytes"] = bytes }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Post, "providers/none/refill", new JsonObject { ["bytes"] = 1 }, HttpStatusCode.NotFound);
        var without = await server.SendAsync(HttpMethod.Put, path, Draft(new JsonObject { ["byteLimit"] = 0 }));
        await server.SendAsync(HttpMethod.Post, $"providers/{without["id"]}/refill", new JsonObject { ["bytes"] = 1 }, HttpStatusCode.Conflict);
    }

    [Fact]
    public async Task Row_says_what_used_the_cap_and_how_long_it_lasts()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = (await server.SendAsync(HttpMethod.Post, "providers", Draft(null)))["id"]!.GetValue<string>();
        var today = server.Server.Services.GetRequiredService<TimeProvider>().LocalDay();
        await server.Server.Services.GetRequiredService<SluiceDatabase>().WriteAsync(
            connection =>
            {
                for (var ago = 0; ago < 20; ago++)
                {
                    connection.Execute(
                        "INSERT INTO provider_usage (provider, day, bytes, playback, import, checks, tried, found) VALUES (@id, @day, 10000000000, 6000000000, 3000000000, 500000000, 1, 1)",
                        new { id, day = ProviderUsage.Write(today.AddDays(-ago)) });
                }

                return 0;
            },
            Token);
        await server.Server.Services.GetRequiredService<ProviderUsage>().RestoreAsync(Token);

        var row = await server.SendAsync(HttpMethod.Put, $"providers/{id}", Draft(new JsonObject { ["byteLimit"] = Limit }));

        var quota = row["quota"]!;
        Assert.Equal((200_000_000_000, 10_000_000_000), (quota["used"]!.GetValue<long>(), quota["bytesPerDay"]!.GetValue<long>()));
        Assert.Equal(ProviderUsage.Write(today.AddDays(80)), quota["lastsUntil"]!.GetValue<string>());
        Assert.Equal("""{"playback":120000000000,"scans":0,"import":60000000000,"checks":10000000000,"other":10000000000}""", quota["lanes"]!.ToJsonString());
        Assert.Null(quota["nextReset"]);

        // A monthly cap counts the days since its reset, and lasts until the next one.
        row = await server.SendAsync(HttpMethod.Put, $"providers/{id}", Draft(new JsonObject { ["byteLimit"] = Limit, ["resetDay"] = Math.Min(today.Day, 28) }));
        Assert.Equal(10_000_000_000 * (today.Day - Math.Min(today.Day, 28) + 1), row["quota"]!["used"]!.GetValue<long>());
        Assert.Null(row["quota"]!["lastsUntil"]);
    }

    [Fact]
    public async Task Cap_that_is_nearly_used_up_needs_attention()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SendAsync(HttpMethod.Post, "providers", Draft(new JsonObject { ["byteLimit"] = Limit, ["usedBefore"] = Limit * 79 / 100 }));
        Assert.Empty(Rows());
        var path = $"providers/{(await server.GetAsync("providers"))["items"]![0]!["id"]}";

        await server.SendAsync(HttpMethod.Put, path, Draft(new JsonObject { ["byteLimit"] = Limit, ["usedBefore"] = Limit * 81 / 100 }));
        Assert.Equal((AttentionLevel.Warning, "block has used 81 % of its data cap. Refill the block once you have bought more."), Assert.Single(Rows()));
        await server.SendAsync(HttpMethod.Put, path, Draft(new JsonObject { ["byteLimit"] = Limit, ["usedBefore"] = Limit }));
        Assert.Equal(
            (AttentionLevel.Error, "block has used up its data cap and is not asked for articles. Refill the block once you have bought more."), Assert.Single(Rows()));

        (AttentionLevel Level, string Sentence)[] Rows() =>
            [.. server.Server.Services.GetRequiredService<Attention>().Collect().Where(static row => row.Kind == AttentionKind.ProviderQuota).Select(static row => (row.Level, row.Sentence))];
    }

    private static (long Limit, int Day, int Reserve, string State, long Used, long Left) Shown(JsonNode row) =>
        (row["quota"]!["byteLimit"]!.GetValue<long>(), row["quota"]!["resetDay"]!.GetValue<int>(), row["quota"]!["reservePercent"]!.GetValue<int>(),
            row["quota"]!["state"]!.GetValue<string>(), row["quota"]!["used"]!.GetValue<long>(), row["quota"]!["left"]!.GetValue<long>());

    // Nothing listens on this port, so no byte is received.
    private static JsonObject Draft(JsonObject? quota) => new()
    {
        ["host"] = "127.0.0.1",
        ["port"] = 1,
        ["tls"] = false,
        ["user"] = "",
        ["password"] = null,
        ["maxConnections"] = 2,
        ["name"] = "block",
        ["quota"] = quota,
    };
}
