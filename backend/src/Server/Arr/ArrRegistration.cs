using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

internal static class ArrRegistration
{
    public static IServiceCollection AddArr(this IServiceCollection services) => services
        .AddSingleton<ArrClient>()
        .AddSingleton<ArrStore>()
        .AddSingleton<AttentionSource>(provider => provider.GetRequiredService<ArrStore>().Attention)
        .AddSingleton<ArrConnector>()
        .AddSingleton<ArrImports>()
        .AddSingleton<ArrPosters>()
        .AddSingleton<PathDoctor>()
        .AddSingleton<ISettingCheck, ArrInstancesCheck>();

    /// <summary>Refuses a list that contains an unusable program.</summary>
    private sealed class ArrInstancesCheck : ISettingCheck
    {
        public string Key => "arr.instances";

        public IEnumerable<string> Errors(string value)
        {
            _ = ArrJson.Read(value, out var warnings);
            return warnings.Select(warning => warning + ".");
        }
    }
}
