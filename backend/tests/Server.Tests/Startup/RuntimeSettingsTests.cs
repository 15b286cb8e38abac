using System.Text.Json;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Runtime settings, because the loss of one would show only in CPU and memory use.</summary>
public sealed class RuntimeSettingsTests
{
    [Theory]
    [InlineData("System.GC.Server", false)]
    [InlineData("System.GC.Concurrent", false)]
    [InlineData("System.GC.Gen0MaxBudget", 2 << 20)]
    [InlineData("System.GC.RegionSize", 1 << 20)]
    [InlineData("System.Runtime.TieredPGO", false)]
    [InlineData("Microsoft.AspNetCore.Server.Kestrel.DisableHttp1LineFeedTerminators", true)]
    [InlineData("System.Runtime.TieredCompilation.CallCountThreshold", 1000)]
    public void Runtimeconfig_contains_required_setting(string name, object value)
    {
        using var file = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "Sluice.Server.runtimeconfig.json")));

        var set = file.RootElement.GetProperty("runtimeOptions").GetProperty("configProperties").GetProperty(name);

        Assert.Equal(JsonSerializer.Serialize(value), set.GetRawText());
    }
}
