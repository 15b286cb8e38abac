using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

internal static class WebDavEndpoints
{
    /// <summary>Adds the verb handlers. The tree adds the <see cref="IStore"/>.</summary>
    public static IServiceCollection AddWebDav(this IServiceCollection services, Func<IServiceProvider, DavOptions> options)
    {
        services.AddSingleton<CurrentDavOptions>(provider => () => options(provider));
        services.TryAddSingleton(TimeProvider.System);
        services.AddSingleton<IRequestHandler, OptionsHandler>();
        services.AddSingleton<IRequestHandler, PropFindHandler>();
        services.AddSingleton<IRequestHandler, GetAndHeadHandler>();
        services.AddSingleton<IRequestHandler, PutHandler>();
        services.AddSingleton<IRequestHandler, DeleteHandler>();
        services.AddSingleton<IRequestHandler, MkColHandler>();
        services.AddSingleton<IRequestHandler, CopyHandler>();
        services.AddSingleton<IRequestHandler, MoveHandler>();
        services.AddSingleton<IRequestHandler, PropPatchHandler>();
        services.AddSingleton<IRequestHandler, LockHandler>();
        services.AddSingleton<IRequestHandler, UnlockHandler>();
        services.AddSingleton<ILockingManager, LockTable>();
        services.AddSingleton<LockGuard>();
        services.AddSingleton<TransferChecks>();
        services.AddSingleton<RefusalLog>();
        services.AddSingleton<WebDavDispatcher>();
        return services.AddHostedService<VerbAssertion>();
    }

    /// <summary>Handles every path and verb that no other endpoint handles. The caller adds authorization.</summary>
    public static IEndpointConventionBuilder MapWebDav(this IEndpointRouteBuilder endpoints) =>
        endpoints.Map("/{**path}", http => http.RequestServices.GetRequiredService<WebDavDispatcher>().DispatchAsync(http))
            .WithDisplayName("WebDAV tree")
            .WithOrder(int.MaxValue);
}

/// <summary>
/// Creates the dispatcher before the first request, but after the settings that the store needs. A verb without a handler prevents startup (DAV-92).
/// </summary>
internal sealed class VerbAssertion(IServiceProvider services) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        services.GetRequiredService<WebDavDispatcher>();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
