using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.SabApi;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.ArrReplica;

/// <summary>Random calls, some of them nonsense, while items are imported: the *arr can parse every answer (SAB-91).</summary>
public sealed class RandomRunTests : IDisposable
{
    private const int Operations = 2_000;

    // The error texts of the contract that calls of this run may get. An answer with nothing done has no text.
    private static readonly string[] Refusals =
    [
        "", "expects one parameter", "expects two parameters", "expects integer value", "item does not exist", "not implemented", "Configuration locked",
    ];

    private static readonly string[] Categories = ["tv", "movies", "*", "None", "Other Things", "TV"];
    private static readonly string[] Names = ["Some.Release", "Another One", "tv", "movies", "completed-symlinks", "Ünïcode & <odd>", "x{{pw}}", "y/pw"];
    private static readonly string[] Numbers = ["-100", "-4", "-2", "-1", "0", "1", "2", "3", "x", "", "9999999999"];
    private static readonly string[] Keys = ["name", "size", "avg_age", "remaining", "bytes", "odd", ""];

    private readonly TemporaryFolder _folder = new();
    private readonly List<string> _ids = ["unknown", ""];
    private int _refused;
    private int _completed;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public Task Arr_can_parse_every_response_in_a_random_run() => RunAsync(1);

    [Theory]
    [Trait("Category", "Long")]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    public Task Arr_can_parse_every_response_in_more_random_runs(int seed) => RunAsync(seed);

    private async Task RunAsync(int seed)
    {
        var random = new Random(seed);
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, SabShapeTests.Under("de-DE"));
        host.Client.DefaultRequestHeaders.UserAgent.ParseAdd("Sonarr/4.0.9");

        for (var i = 0; i < Operations; i++)
        {
            if (i % 25 == 0)
                await AddAsync(host, random, i);
            else if (i % 5 == 0)
                await ListAsync(host, random);
            else
                await CallAsync(host, Operation(random));
        }

        // The run must have covered successes, failures and refusals.
        Assert.InRange(_completed, 1, Operations);
        Assert.InRange(_refused, Operations / 20, Operations);
    }

    /// <summary>Adds an importable release, a release without articles, or something that is no NZB.</summary>
    private async Task AddAsync(ProductHost host, Random random, int number)
    {
        var category = Pick(random, Categories);
        var nzb = random.Next(4) switch
        {
            0 => NzbText.Of($"film {number}.mkv"),
            1 => "no NZB"u8.ToArray(),
            _ => new MockRelease($"rel{number}", (ulong)number, [new MockFile { Name = "film.mkv", Size = 20_000, ArticleSize = 10_000 }]).ToNzb(),
        };
        var name = Uri.EscapeDataString(Pick(random, Names));
        var id = (await host.AddAsync(nzb, $"{number}.nzb", Token, $"&cat={Uri.EscapeDataString(category)}&nzbname={name}&priority={random.Next(-4, 4)}"))[0];
        _ids.Add(id);
    }

    private async Task ListAsync(ProductHost host, Random random)
    {
        var filter = random.Next(6) switch
        {
            0 => "&status=Queued,Downloading",
            1 => "&search=e",
            2 => $"&nzo_ids={Pick(random, _ids)}",
            3 => $"&start={random.Next(5)}&limit={random.Next(5)}",
            _ => "&start=0&limit=0",
        };
        var answer = await CallAsync(host, "mode=queue" + filter) ?? throw new ArrParseException("The queue is no error.");
        var queue = ArrParser.ReadQueue(answer);
        Assert.All(queue.Items, item => Assert.InRange(item.SizeLeft, 0, item.Size));

        answer = await CallAsync(host, "mode=get_config") ?? throw new ArrParseException("The settings are no error.");
        var folders = ArrParser.ReadConfig(answer);
        answer = await CallAsync(host, "mode=fullstatus&skip_dashboard=1") ?? throw new ArrParseException("The state is no error.");
        Assert.Equal(folders[""], ArrParser.ReadFullStatus(answer));

        answer = await CallAsync(host, "mode=history&start=0&limit=60") ?? throw new ArrParseException("The history is no error.");
        var history = ArrParser.ReadHistory(answer);
        // Sonarr and Radarr import the folder of the release and later remove it with its content, but no parent folder.
        Assert.All(history, item => Assert.Equal(item.Storage, item.OutputPath));
        Assert.All(history.Where(item => item.Storage.Length > 0), item => Assert.Matches($@"/{Regex.Escape(Unnumbered(item.Title))}( \(\d+\))?$", item.Storage));
        Assert.All(history.Where(item => item.Storage.Length > 0), item => Assert.StartsWith(folders[""] + "/", item.Storage, StringComparison.Ordinal));
        _completed = Math.Max(_completed, history.Count(item => item.Status == "Completed"));
    }

    private string Operation(Random random)
    {
        var (one, other) = (Pick(random, _ids), Pick(random, _ids));
        var number = Pick(random, Numbers);
        return random.Next(28) switch
        {
            0 => $"mode=queue&name=pause&value={one},{other}",
            1 or 2 => $"mode=queue&name=resume&value={one},{other}",
            3 => $"mode=queue&name=priority&value={one},{other}&value2={number}",
            4 => $"mode=queue&name=rename&value={one}&value2={Uri.EscapeDataString(Pick(random, Names))}",
            5 => $"mode=queue&name=sort&sort={Pick(random, Keys)}&dir={(random.Next(2) == 0 ? "asc" : "desc")}",
            6 => $"mode=switch&value={one}&value2={other}",
            7 => $"mode=switch&value={one}&value2={random.Next(12)}",
            8 or 9 => $"mode=change_cat&value={one}&value2={Uri.EscapeDataString(Pick(random, Categories))}",
            10 => $"mode=change_script&value={one}&value2={number}",
            11 => $"mode=change_opts&value={one}&value2={number}",
            12 => $"mode=get_files&value={one}",
            13 => $"mode=queue&name=delete_nzf&value={one}&value2=x",
            14 => random.Next(10) == 0 ? "mode=queue&name=purge&search=e" : $"mode=queue&name=delete&value={one}",
            15 => random.Next(4) == 0 ? "mode=pause" : "mode=resume",
            16 => $"mode=config&name=set_pause&value={number}",
            17 => "mode=resume",
            18 => $"mode=cancel_pp&value={one}",
            19 => $"mode=move_nzf_bulk&name=up&value={one}",
            20 => "mode=version",
            21 => $"mode=history&name=delete&value={one}&del_files=1&archive={random.Next(2)}",
            22 => $"mode=retry&value={one}",
            23 => random.Next(5) == 0 ? "mode=retry_all" : $"mode=history&name=mark_as_completed&value={one}",
            24 => random.Next(10) == 0 ? "mode=history&name=delete&value=failed" : "mode=server_stats",
            25 => random.Next(2) == 0 ? "mode=warnings" : "mode=get_cats",
            26 => $"mode=history&archive=1&start={random.Next(3)}&limit={random.Next(3)}",
            _ => string.Create(CultureInfo.InvariantCulture, $"mode=queue&name=change_complete_action&value={number}"),
        };
    }

    /// <summary>Makes a call.</summary>
    /// <returns>The answer; null if it was refused.</returns>
    private async Task<JsonElement?> CallAsync(ProductHost host, string call)
    {
        using var answer = await host.Client.GetAsync(new Uri($"/api?apikey={ProductHost.Key}&output=json&{call}", UriKind.Relative), Token);
        Assert.True(answer.IsSuccessStatusCode, $"{call}: {answer.StatusCode}");
        try
        {
            return ArrParser.Read(await answer.Content.ReadAsStringAsync(Token));
        }
        catch (ArrErrorException e)
        {
            Assert.Contains(e.Message, Refusals);
            _refused++;
            return null;
        }
    }

    private static string Unnumbered(string title) => Regex.Replace(title, @" \(\d+\)$", "");

    private static T Pick<T>(Random random, IReadOnlyList<T> from) => from[random.Next(from.Count)];
}
