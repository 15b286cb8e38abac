using System.Globalization;
using System.Net;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/system</c> and <c>/api/access</c>: the server itself, and how to reach it.</summary>
internal static class SystemResource
{
    private const string BundleType = "application/zip";

    public static void MapSystem(this RouteGroupBuilder api)
    {
        api.MapGet("/system", Show).WithName("ShowSystem");
        api.MapGet("/system/support-bundle", DownloadBundleAsync).Produces<string>(contentType: BundleType).WithName("DownloadSupportBundle");
        api.MapGet("/access", ShowAccess).WithName("ShowAccess");
    }

    private static Ok<SystemState> Show(SystemViews views) => TypedResults.Ok(views.Show());

    /// <summary>Sends everything that a bug report needs as one zip file (OPS-50). Names of releases are included only on request.</summary>
    private static async Task<PushStreamHttpResult> DownloadBundleAsync(bool? names, SupportBundle bundle, TimeProvider time, CancellationToken cancellationToken)
    {
        var content = await bundle.ReadAsync(names == true, cancellationToken);
        var name = string.Create(CultureInfo.InvariantCulture, $"sluice-support-{time.WallTime():yyyy-MM-dd}.zip");
        return TypedResults.Stream(to => content.WriteAsync(to, cancellationToken), BundleType, name);
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
}
