using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>Servers start with any settings and respond (CFG-10).</summary>
public sealed class MutatedStartTests
{
    private const int Starts = 50;

    // Longer than any start, so that a hanging start fails the test.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    [Trait("Category", "Starts")]
    public async Task Fifty_starts_with_mutated_configurations_reach_healthz()
    {
        var random = new Random(20260102);
        var names = SettingSchema.All.Select(definition => definition.Key).ToArray();
        for (var i = 0; i < Starts; i++)
        {
            using var temporary = new TemporaryFolder();
            var variables = MutatedConfigurationTests.Some(random, names)
                // Paths stay unchanged, so that the server writes only into the folder of the test.
                .Where(value => !value.Key.EndsWith("-dir", StringComparison.Ordinal) && value.Key != "usenet.segment-cache.path" && value.Key != "api.local-nzb-dirs")
                .ToDictionary(value => SettingsResolver.OverrideName(value.Key), value => value.Value.Replace("\0", "", StringComparison.Ordinal));
            await using var server = await RunningServer.StartAsync(temporary, variables).WaitAsync(Patience, TestContext.Current.CancellationToken);

            using var answer = await server.Client.GetAsync(new Uri("/healthz", UriKind.Relative), TestContext.Current.CancellationToken);

            Assert.True(answer.StatusCode == HttpStatusCode.OK, $"Start {i}: {string.Join(", ", variables.Keys)}");
            var text = await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
            Assert.Equal("ok", JsonNode.Parse(text)!["status"]!.ToString());
        }
    }
}
