using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>The counts that the setup page shows during the import of an old server.</summary>
public sealed class ImportCountTests
{
    private const int Items = 300;

    [Fact]
    public async Task Import_counts_up_to_the_rehearsal_totals()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        for (var i = 0; i < Items; i++)
            old.AddHistory(Guid.NewGuid(), $"Failed.Film.{i}", "tv", 2, "Articles are missing.", null, null);
        old.Leave();
        await using var server = await ImportingServer.StartAsync(folder, imports: false);
        Assert.Equal((Items, Items), CountsOf(await server.WaitAsync("found")));

        var taken = -1;
        for (var report = await server.SendAsync(HttpMethod.Post, "/api/setup/import", HttpStatusCode.Accepted); ; report = await server.ReportAsync())
        {
            var counts = CountsOf(report);
            Assert.Equal(Items, counts.Found);
            Assert.InRange(counts.Taken, Math.Max(0, taken), Items);
            taken = counts.Taken;
            if (report["state"]!.GetValue<string>() == "finished")
                break;
        }

        Assert.Equal(Items, taken);
    }

    private static (int Found, int Taken) CountsOf(JsonNode report)
    {
        var history = report["counts"]!.AsArray().Single(count => count!["kind"]!.GetValue<string>() == "history")!;
        return ((int)history["found"]!, (int)history["taken"]!);
    }
}
