using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Authenticated metadata requests per second, with client and server on the same cores (DAV-31, S3).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed partial class RequestRateTests
{
    private const double Least = 5000;

    /// <summary>
    /// wrk waits for a body after every answer with a Content-Length, which a HEAD answer declares without sending one. A 304 takes
    /// the same path through the server without it.
    /// </summary>
    private const string Head = "wrk.method = 'HEAD'\nwrk.headers['If-None-Match'] = '*'\n";

    private const string Find =
        "wrk.method = 'PROPFIND'\nwrk.headers['Depth'] = '0'\nwrk.body = '<propfind xmlns=\"DAV:\"><prop><displayname/><getlastmodified/>"
        + "<getcontentlength/><resourcetype/></prop></propfind>'\n";

    [Theory]
    [InlineData(Head)]
    [InlineData(Find)]
    public async Task Metadata_requests_reach_5000_per_second(string script)
    {
        ExternalProgram.Require("wrk");
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, cancel);
        var path = await LargeFolder.AddAsync(folder.File("data"), 10_000);
        var credentials = Convert.ToBase64String(Encoding.UTF8.GetBytes($"{ServerProcess.User}:{ServerProcess.Password}"));
        await File.WriteAllTextAsync(folder.File("wrk.lua"), $"{script}wrk.headers['Authorization'] = 'Basic {credentials}'\n", cancel);
        string[] arguments = ["-t1", "-c16", "-s", folder.File("wrk.lua"), $"http://127.0.0.1:{server.Port}/{path}"];
        // Warms up for five seconds, so that the runtime compiles the code before the measurement.
        (await ExternalProgram.RunAsync("wrk", ["-d5s", .. arguments], null, cancel)).Succeeded();

        var report = (await ExternalProgram.RunAsync("wrk", ["-d15s", .. arguments], null, cancel)).Succeeded().Text;

        Assert.DoesNotContain("Non-2xx", report, StringComparison.Ordinal);
        Assert.DoesNotContain("Socket errors", report, StringComparison.Ordinal);
        var rate = double.Parse(Rate().Match(report).Groups[1].Value, CultureInfo.InvariantCulture);
        TestContext.Current.TestOutputHelper?.WriteLine($"{rate} requests/s");
        Assert.InRange(rate, Least, double.MaxValue);
    }

    [GeneratedRegex(@"Requests/sec:\s+([0-9.]+)")]
    private static partial Regex Rate();
}
