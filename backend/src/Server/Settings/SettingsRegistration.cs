using Microsoft.Extensions.Options;

namespace Sluice.Server.Settings;

/// <summary>Puts the settings together.</summary>
internal static class SettingsRegistration
{
    /// <summary>
    /// Adds the configuration source, the store and one <c>IOptionsMonitor</c> per concern. Until the store has loaded, the
    /// options hold what the environment and the defaults say.
    /// </summary>
    public static IHostApplicationBuilder AddSettings(this IHostApplicationBuilder builder, ProcessEnvironment environment, ProcessOptions process)
    {
        var configuration = new SettingsConfiguration(new SettingsResolver(SettingSchema.All, environment));
        builder.Configuration.Add(configuration);
        builder.Services.AddSingleton(process).AddSingleton(configuration).AddSingleton<SecretBox>().AddSingleton<SettingsStore>();
        builder
            .AddRecord(GeneralOptions.Read)
            .AddRecord(ApiOptions.Read)
            .AddRecord(QueueOptions.Read)
            .AddRecord(RcloneOptions.Read)
            .AddRecord(SegmentCacheOptions.Read)
            .AddRecord(StreamingOptions.Read)
            .AddRecord(UsenetOptions.Read)
            .AddRecord(settings => WebDavOptions.Read(settings, process.DisableWebDavAuth));
        return builder;
    }

    private static IHostApplicationBuilder AddRecord<TOptions>(this IHostApplicationBuilder builder, Func<EffectiveSettings, TOptions> read)
        where TOptions : class
    {
        builder.Services
            .AddOptions()
            .AddSingleton<IOptionsFactory<TOptions>>(services =>
                new SettingsOptionsFactory<TOptions>(services.GetRequiredService<SettingsConfiguration>(), read))
            .AddSingleton<IOptionsChangeTokenSource<TOptions>>(new ConfigurationChangeTokenSource<TOptions>(builder.Configuration));
        return builder;
    }
}
