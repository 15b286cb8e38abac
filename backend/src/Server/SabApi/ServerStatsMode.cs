using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=server_stats</c>: traffic and article counts by provider and day (SAB-46). Merges providers with the same nickname.</summary>
internal sealed class ServerStatsMode(ProviderHost providers, ProviderUsage usage) : ISabMode
{
    public string Name => "server_stats";

    public Task AnswerAsync(SabCall call) => SabAnswer.ResultAsync(
        call,
        to =>
        {
            Write(to, usage.Sum());
            to.BeginObject("servers");
            foreach (var server in providers.Providers.Select((provider, index) => (Name: SabServers.NameOf(provider.Options, index), provider.Options.Id))
                .GroupBy(server => server.Name, server => server.Id))
            {
                Guid[] ids = [.. server];
                var days = usage.Days(ids);
                to.BeginObject(server.Key);
                Write(to, usage.Sum(ids));
                Write(to, "daily", days, use => use.Bytes);
                Write(to, "articles_tried", days, use => use.Tried);
                Write(to, "articles_success", days, use => use.Found);
                to.EndObject();
            }

            to.EndObject();
        });

    private static void Write(ISabWriter to, UsageSums sums)
    {
        to.Field("total", sums.Total);
        to.Field("month", sums.Month);
        to.Field("week", sums.Week);
        to.Field("day", sums.Day);
    }

    private static void Write(ISabWriter to, string name, IReadOnlyList<(DateOnly Day, ProviderUse Use)> days, Func<ProviderUse, long> value)
    {
        to.BeginObject(name);
        foreach (var (day, use) in days)
            to.Field(ProviderUsage.Write(day), value(use));
        to.EndObject();
    }
}
