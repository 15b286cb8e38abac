using System.Diagnostics;
using System.Net;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/system</c> and <c>/api/access</c>: the server itself, and how to reach it.</summary>
internal static class SystemResource
{
    public static void MapSystem(this RouteGroupBuilder api)
    {
        api.MapGet("/system", Show).WithName("ShowSystem");
        api.MapGet("/access", ShowAccess).WithName("ShowAccess");
    }

    private static Ok<SystemState> Show(DataFolder folder, Readiness readiness, ProviderHost providers, IOptionsMonitor<UsenetOptions> usenet)
    {
        using var process = Process.GetCurrentProcess();
        return TypedResults.Ok(new SystemState(
            BuildInfo.Version,
            BuildInfo.Commit,
            RuntimeFeature.IsDynamicCodeSupported ? "ordinary" : $"native {WiderBuild.Name}",
            process.StartTime.ToUniversalTime(),
            readiness.IsSafeMode ? "safe" : "normal",
            process.WorkingSet64,
            usenet.CurrentValue.ArticleBudgetWithin(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes),
            FreeBytes(folder.Root),
            providers.Effective(OperationLane.Playback),
            providers.Effective(OperationLane.Import),
            Checks(readiness)));
    }

    private static Ok<AccessCard> ShowAccess(
        HttpContext http,
        IServer listener,
        IOptionsMonitor<WebDavOptions> webDav,
        IOptionsMonitor<ApiOptions> api,
        CompleteFolder complete,
        RcloneClients rclone)
    {
        var request = http.Request;
        var bound = listener.Features.Get<IServerAddressesFeature>()?.Addresses.Select(BindingAddress.Parse).FirstOrDefault();
        var (scheme, port) = bound is null ? (request.Scheme, request.Host.Port ?? 80) : (bound.Scheme, bound.Port);
        var host = request.Host.Host.Trim('[', ']');
        return TypedResults.Ok(new AccessCard(
            ClientAddress.Of(request),
            request.PathBase.Value ?? "",
            host == "localhost" || (IPAddress.TryParse(host, out var address) && IPAddress.IsLoopback(address)),
            [.. LanAddresses.Find().Select(own => $"{scheme}://{own}:{port}")],
            $"{scheme}://sluice:{port}",
            port,
            // A prefix of zero bits matches every client, so no client needs a user name.
            webDav.CurrentValue.NoAuthNetworks.Any(network => network.PrefixLength == 0) ? "" : webDav.CurrentValue.User,
            http.User.FindFirst(AdminDoor.Kind)?.Value == AdminDoor.ReadKey || api.CurrentValue.KeyIsLocked ? null : api.CurrentValue.Key,
            complete.Mount,
            complete.StrmRoot is { Length: > 0 } strm ? strm : null,
            api.CurrentValue.Categories,
            rclone.Snapshot() is [var version, ..] && version < RcloneClients.FirstWithLinks ? version == RcloneClients.Unstated ? "" : version.ToString() : null));
    }

    private static List<SelfCheck> Checks(Readiness readiness) =>
    [
        new("Database", !readiness.IsSafeMode, readiness.SafeModeSentence ?? "The database is in use."),
        readiness.WriteObstacle switch
        {
            null => new("Storage", true, "The data folder can be written to."),
            "disk" => new("Storage", false, "The disk of the data folder is full."),
            _ => new("Storage", false, "The data folder cannot be written to. The log says why."),
        },
    ];

    private static long? FreeBytes(string folder)
    {
        try
        {
            return new DriveInfo(folder).AvailableFreeSpace;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            // In the response, null means unknown.
            return null;
        }
    }
}
