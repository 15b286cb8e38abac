using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Auth;

internal static class AuthRegistration
{
    public const string BasicScheme = "Basic";

    /// <summary>Adds the verifiers, and a policy that requires credentials for every route without <see cref="OpenEndpoint"/>.</summary>
    public static IServiceCollection AddAuth(this IServiceCollection services)
    {
        // Use AddAuthenticationCore, because AddAuthentication would store data protection keys in the user's home.
        services
            .AddSingleton<FailureBudget>()
            .AddSingleton<HashLine>()
            .AddSingleton<KnownSenders>()
            .AddSingleton<KnownBrowser>()
            .AddSingleton<PasswordRenewal>()
            .AddSingleton<BasicVerifier>()
            .AddSingleton<RecentClients>()
            .AddSingleton<RcloneClients>()
            .AddSingleton<MadePassword>()
            .AddSingleton<AdminStore>()
            .AddSingleton<ISetup>(provider => provider.GetRequiredService<AdminStore>())
            .AddSingleton<AdminPassword>()
            .AddSingleton<SetupCode>()
            .AddSingleton<RescueCode>()
            .AddSingleton<IWorker>(provider => provider.GetRequiredService<RescueCode>())
            .AddSingleton<PasswordReset>()
            .AddSingleton<ApiKeyVerifier>()
            .AddSingleton<ViewKey>()
            .AddSingleton<SignedLinks>()
            .AddHostedService<FirstStart>()
            .AddWebEncoders()
            .AddAuthenticationCore(options => options.DefaultScheme = BasicScheme);
        new AuthenticationBuilder(services)
            .AddScheme<AuthenticationSchemeOptions, BasicAuthenticationHandler>(BasicScheme, null)
            .AddScheme<AuthenticationSchemeOptions, AdminDoor>(AdminDoor.Name, null);
        services
            .AddAuthorizationBuilder()
            .AddPolicy(AdminDoor.Name, new AuthorizationPolicyBuilder(AdminDoor.Name).RequireAuthenticatedUser().Build())
            .SetFallbackPolicy(new AuthorizationPolicyBuilder(BasicScheme).RequireAuthenticatedUser().Build());
        // ASP.NET Core logs every challenge at Information, which would flood the log.
        return services.Configure<LoggerFilterOptions>(filters =>
        {
            foreach (var handler in (ReadOnlySpan<Type>)[typeof(BasicAuthenticationHandler), typeof(AdminDoor)])
                filters.Rules.Add(new LoggerFilterRule(null, handler.FullName, LogLevel.Warning, null));
        });
    }
}
