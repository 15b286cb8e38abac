using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Tests.AdminApi;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The dashboard and the alerts in <c>docs/grafana</c> (OPS-33).</summary>
public sealed partial class DashboardTests
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(200);

    private static string Alerts => Repository.PathOf("docs/grafana/alerts.yml");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Expressions_use_only_server_metrics()
    {
        await using var server = await StreamServer.StartAsync(new() { ["METRICS_REQUIRE_API_KEY"] = "false" });
        await MetricsTests.PlayAsync(server);
        var known = ScrapedMetrics.Parse(await server.Api.Server.Client.GetStringAsync("metrics", Token));
        var names = known.All.SelectMany(static metric => metric.Type == "histogram" ? [metric.Name + "_bucket", metric.Name + "_count"] : (string[])[metric.Name]).Append("up").ToHashSet();

        var used = Panels().Concat(Rules()).SelectMany(static expression => Metric().Matches(expression).Select(static match => match.Value)).ToHashSet();

        Assert.Empty(used.Except(names));
        Assert.InRange(used.Count, 30, names.Count);
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Each_expression_yields_data_from_a_real_prometheus()
    {
        ExternalProgram.Require("prometheus");
        await using var server = await StreamServer.StartAsync();
        await MetricsTests.MakeBackupAsync(server.Api);
        var (_, key) = await server.Api.Server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("prometheus", hasFullAccess: false, Token);
        await using var prometheus = await PrometheusProcess.StartAsync(server.Api.Server.Address, key, Alerts, Token);
        await WaitForDataAsync(prometheus, "sluice_build_info");

        // After the first scrape, because a rate needs a value before and after.
        await MetricsTests.PlayAsync(server);

        foreach (var expression in Panels())
            await WaitForDataAsync(prometheus, expression.Replace("$instance", ".*", StringComparison.Ordinal).Replace("$__rate_interval", "1m", StringComparison.Ordinal));
        // An alert has no data while all is well, but each series that it compares has. No request has failed.
        foreach (var selector in Rules().SelectMany(static expression => Selector().Matches(expression).Select(static match => match.Value)).Distinct().Where(static selector => !selector.Contains("500", StringComparison.Ordinal)))
            await WaitForDataAsync(prometheus, selector);
    }

    [Fact]
    public async Task Each_alert_fires_only_for_a_broken_server()
    {
        var tests = Repository.PathOf("backend/tests/Server.Tests/EndToEnd/alerts-test.yml");
        var text = await File.ReadAllTextAsync(tests, Token);
        foreach (Match alert in AlertName().Matches(await File.ReadAllTextAsync(Alerts, Token)))
        {
            var name = Regex.Escape(alert.Groups["name"].Value);
            Assert.Matches($@"alertname: {name}\s+exp_alerts:\s+- exp_labels", text);
            Assert.Matches($@"alertname: {name}, exp_alerts: \[\]", text);
        }

        ExternalProgram.Require("promtool");
        (await ExternalProgram.RunAsync("promtool", ["check", "rules", Alerts], null, Token)).Succeeded();
        (await ExternalProgram.RunAsync("promtool", ["test", "rules", tests], null, Token)).Succeeded();
    }

    private static async Task WaitForDataAsync(PrometheusProcess prometheus, string expression)
    {
        while (await prometheus.QueryAsync(expression, Token) is not { Count: > 0 })
            await Task.Delay(Poll, TimeProvider.System, Token);
    }

    /// <summary>Returns the expressions of the dashboard's panels.</summary>
    private static IEnumerable<string> Panels()
    {
        var dashboard = JsonNode.Parse(File.ReadAllText(Repository.PathOf("docs/grafana/sluice.json")))!;
        var targets = dashboard["panels"]!.AsArray().SelectMany(static panel => panel!["targets"]?.AsArray() ?? []);
        return targets.Select(static target => target!["expr"]!.GetValue<string>());
    }

    /// <summary>Returns the expressions of the alerts, each as one line.</summary>
    private static IEnumerable<string> Rules() => Expression().Matches(File.ReadAllText(Alerts))
        .Select(static match => Blank().Replace(match.Groups["text"].Value, " ").Trim());

    [GeneratedRegex(@"^ +expr: (\|\n)?(?<text>(.|\n)+?)\n +(for|labels):", RegexOptions.Multiline)]
    private static partial Regex Expression();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Blank();

    [GeneratedRegex(@"\b(sluice|process|dotnet)_[a-z_]+|\bup\b(?=\{)")]
    private static partial Regex Metric();

    [GeneratedRegex(@"\b((sluice_[a-z_]+)|up)(\{[^}]*\})?(?=[ \[)]|$)")]
    private static partial Regex Selector();

    [GeneratedRegex(@"^ +- alert: (?<name>\w+)$", RegexOptions.Multiline)]
    private static partial Regex AlertName();
}
