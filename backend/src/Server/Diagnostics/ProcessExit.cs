using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>Runs the application and turns what stops it from starting into one line on stderr and an exit code (CFG-13, CFG-14).</summary>
internal static class ProcessExit
{
    /// <summary>Builds and runs until the process is asked to stop.</summary>
    /// <returns>The exit code; 0 after a normal stop.</returns>
    public static async Task<int> RunAsync(Func<ProcessEnvironment, WebApplication> build)
    {
        var environment = ProcessEnvironment.OfThisProcess();
        try
        {
            await using var app = build(environment);
            await app.RunAsync();
            return 0;
        }
        catch (StartRefusedException e)
        {
            return await EndAsync(e.ExitCode, e.Message);
        }
        catch (IOException e) when (e.InnerException is AddressInUseException)
        {
            var port = ProcessOptions.Read(environment).Port;
            return await EndAsync(StartRefusedException.PortTaken, $"port {port} is already in use{PortOwner.Describe(port)}");
        }
        catch (SocketException e)
        {
            var options = ProcessOptions.Read(environment);
            return await EndAsync(StartRefusedException.PortTaken, $"cannot listen on port {options.Port} of {options.BindAddress?.ToString() ?? "all addresses"}: {e.Message}");
        }
        catch (Exception e)
        {
            return await EndAsync(StartRefusedException.AssertionFailed, $"start failed: {e.GetType().Name}: {e.Message.ReplaceLineEndings(" ")}");
        }
    }

    private static async Task<int> EndAsync(int code, string sentence)
    {
        await Console.Error.WriteLineAsync($"sluice: {sentence}");
        return code;
    }
}
