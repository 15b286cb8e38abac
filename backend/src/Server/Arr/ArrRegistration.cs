using Sluice.Server.Settings;

namespace Sluice.Server.Arr;

/// <summary>Sonarr and its relatives in the composition root.</summary>
internal static class ArrRegistration
{
    /// <summary>Adds the calls to them and the check of their setting.</summary>
    public static IServiceCollection AddArr(this IServiceCollection services) => services
        .AddSingleton<ArrClient>()
        .AddSingleton<ArrStore>()
        .AddSingleton<ArrConnector>()
        .AddSingleton<PathDoctor>()
        .AddSingleton<ISettingCheck, ArrInstancesCheck>();

    /// <summary>Refuses a list of programs of which an element could not be used.</summary>
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
