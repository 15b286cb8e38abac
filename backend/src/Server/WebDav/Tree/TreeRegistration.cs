using Microsoft.AspNetCore.Authentication;

namespace Sluice.Server.WebDav.Tree;

internal static class TreeRegistration
{
    public static IServiceCollection AddTree(this IServiceCollection services)
    {
        new AuthenticationBuilder(services).AddScheme<AuthenticationSchemeOptions, ViewAuthenticationHandler>(
            ViewAuthenticationHandler.SchemeName, null);
        // Raise the minimum level, because ASP.NET Core's authentication handler logs every challenge at Information.
        services.Configure<LoggerFilterOptions>(filters =>
            filters.Rules.Add(new LoggerFilterRule(null, typeof(ViewAuthenticationHandler).FullName, LogLevel.Warning, null)));
        return services
            .AddSingleton<RootFiles>()
            .AddSingleton<WaitingUploads>()
            .AddSingleton<QueueProperties>()
            .AddSingleton<LitterFiles>()
            .AddSingleton<ContentBranch>()
            .AddSingleton<QueueNames>()
            .AddSingleton<QueueChanges>()
            .AddSingleton<QueueBranch>()
            .AddSingleton<IdBranch>()
            .AddSingleton<HiddenLinks>()
            .AddSingleton<ProbeFolder>()
            .AddSingleton<LinkBranch>()
            .AddSingleton<IStore, SluiceStore>()
            .AddSingleton<Playlist>()
            .AddSingleton<ViewEndpoint>()
            .AddHostedService<RouteAssertion>();
    }
}
