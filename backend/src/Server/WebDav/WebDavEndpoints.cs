using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Sluice.Server.WebDav;

/// <summary>The WebDAV protocol in the composition root.</summary>
internal static class WebDavEndpoints
{
    /// <summary>Adds the verbs. The store and <see cref="CurrentDavOptions"/> come from whoever brings the tree.</summary>
    public static IServiceCollection AddWebDav(this IServiceCollection services)
    {
        services.TryAddSingleton(TimeProvider.System);
        services.AddSingleton<IRequestHandler, OptionsHandler>();
        services.AddSingleton<IRequestHandler, PropFindHandler>();
        services.AddSingleton<IRequestHandler, GetAndHeadHandler>();
        services.AddSingleton<IRequestHandler, PutHandler>();
        services.AddSingleton<IRequestHandler, DeleteHandler>();
        services.AddSingleton<RefusalLog>();
        services.AddSingleton<WebDavDispatcher>();
        return services;
    }

    /// <summary>
    /// Maps the tree to every path and verb that no other endpoint takes. The dispatcher is made here, so that a table of verbs
    /// which does not fit its handlers stops the start. The caller adds the authorization.
    /// </summary>
    public static IEndpointConventionBuilder MapWebDav(this IEndpointRouteBuilder endpoints)
    {
        WebDavDispatcher dispatcher = endpoints.ServiceProvider.GetRequiredService<WebDavDispatcher>();
        return endpoints.Map("/{**path}", dispatcher.DispatchAsync)
            .WithDisplayName("WebDAV tree")
            .WithOrder(int.MaxValue);
    }
}
