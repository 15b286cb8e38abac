using System.Diagnostics;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=status</c> and <c>mode=fullstatus</c>: the server's state, and the actions named by <c>name</c>.</summary>
internal sealed class StatusMode(string name, StatusSources services) : ISabMode
{
    public string Name => name;

    public Task AnswerAsync(SabCall call)
    {
        switch (call.Parameters.Text("name"))
        {
            case "unblock_server":
                Unblock(call.Parameters.Text("value"));
                return SabAnswer.StatusAsync(call, true);
            // Sluice has no orphaned jobs, so a path sent by a client is never accessed.
            case "delete_orphan" or "add_orphan":
                return SabAnswer.ErrorAsync(call, SabTexts.NoItem);
            case "delete_all_orphan" or "add_all_orphan":
                return SabAnswer.StatusAsync(call, true);
            default:
                return ReportAsync(call);
        }
    }

    private void Unblock(string server)
    {
        foreach (var (at, provider) in services.Providers.Providers.Index())
        {
            if (SabServers.NameOf(provider.Options, at) == server)
                services.Providers.Unblock(at);
        }
    }

    private async Task ReportAsync(SabCall call)
    {
        var running = services.Activity.Current;
        var totals = await services.Queue.GetTotalsAsync(new QueueFilter(), call.Cancelled);
        var summary = await QueueSummary.TakeAsync(services.Queue, totals, running, services.Time, call.Cancelled);
        using var process = Process.GetCurrentProcess();
        var started = new DateTimeOffset(process.StartTime);
        await SabAnswer.WriteAsync(
            call,
            to =>
            {
                to.BeginObject("status");
                services.Header.Write(to, summary);
                to.Field("completedir", services.CompleteFolder.Path);
                to.Field("downloaddir", services.Folder.Root);
                to.Field("logfile", "");
                to.Field("loglevel", "1");
                to.Field("uptime", SabUnits.Age(started, services.Time.WallTime()));
                to.Texts("folders", []);
                WarningsMode.Write(to, services.Warnings);
                to.Field("loadavg", LoadAverage());
                WriteServers(to);
                to.Field("pid", Environment.ProcessId);
                to.Field("pystone", 0);
                to.Field("downloaddirspeed", 0);
                to.Field("completedirspeed", 0);
                to.Field("internetbandwidth", 0);
                to.Field("configfn", "");
                to.Field("webdir", "");
                to.Field("active_lang", "en");
                to.Field("power_options", false);
                to.Field("pp_pause_event", false);
                to.Field("color_scheme", "");
                to.EndObject();
            });
    }

    private void WriteServers(ISabWriter to)
    {
        to.BeginList("servers");
        foreach (var (at, provider) in services.Providers.Providers.Index())
            WriteServer(to, SabServers.NameOf(provider.Options, at), provider);
        to.EndList();
    }

    private static void WriteServer(ISabWriter to, string name, ProviderState provider)
    {
        var options = provider.Options;
        to.BeginObject();
        to.Field("servername", name);
        to.Field("serveractive", options.Kind != ProviderKind.Disabled && provider.Fault is null);
        to.Field("serveractiveconn", provider.Sockets);
        to.Field("servertotalconn", options.MaxConnections);
        to.Texts("serverconnections", []);
        to.Field("serverssl", options.UseTls ? 1 : 0);
        to.Field("serversslinfo", "");
        to.Field("serverwarning", "");
        // Report only the kind of fault, because the fault's message may contain an address.
        to.Field("servererror", provider.Fault is { } fault ? fault.ToString() : "");
        to.Field("serverpriority", options.Priority);
        to.Field("serveroptional", SabServers.IsOptional(options) ? 1 : 0);
        to.Field("serverbps", SabUnits.Short(0));
        to.Field("serveripaddress", "");
        to.Field("servercanonname", "");
        to.EndObject();
    }

    /// <summary>Returns the load average as reported by the system; empty if unknown.</summary>
    private static string LoadAverage()
    {
        try
        {
            return string.Join(" | ", File.ReadAllText("/proc/loadavg").Split(' ').Take(3));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}

internal sealed record StatusSources(
    QueueStore Queue,
    QueueActivity Activity,
    QueueHeader Header,
    RecentWarnings Warnings,
    ProviderHost Providers,
    CompleteFolder CompleteFolder,
    DataFolder Folder,
    TimeProvider Time);
