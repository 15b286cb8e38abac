using System.Net.Sockets;
using System.Runtime.InteropServices;
using Microsoft.AspNetCore.Connections;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>Runs the application. A fatal fault becomes a line on stderr and an exit code (CFG-13, CFG-14). After a signal, the exit code is 0.</summary>
internal static class ProcessExit
{
    private static readonly PosixSignal[] Signals = [PosixSignal.SIGTERM, PosixSignal.SIGINT, PosixSignal.SIGQUIT];

    /// <summary>Runs until a signal requests a stop. Returns the exit code.</summary>
    public static async Task<int> RunAsync(Func<ProcessEnvironment, WebApplication> build)
    {
        using var asked = new CancellationTokenSource();
        var handlers = Signals.Select(signal => PosixSignalRegistration.Create(signal, context =>
        {
            context.Cancel = true;
            asked.Cancel();
        })).ToList();
        int? code;
        try
        {
            code = await RunUntilAskedAsync(build, asked.Token);
        }
        finally
        {
            foreach (var handler in handlers)
                handler.Dispose();
        }

        if (code is { } ended)
            return ended;
        ProcessImage.Restart();
        return await EndAsync(StartRefusedException.FolderLocked, "start Sluice again to go on: this system cannot restart a process");
    }

    /// <returns>The exit code; null if the process must restart.</returns>
    private static async Task<int?> RunUntilAskedAsync(Func<ProcessEnvironment, WebApplication> build, CancellationToken asked)
    {
        var environment = ProcessEnvironment.OfThisProcess();
        try
        {
            ProcessUser.Become(environment);
            await using var app = build(environment);
            // Get this service now, because the run disposes all services even after a failure.
            var trial = app.Services.GetRequiredService<SettingsTrial>();
            var restart = app.Services.GetRequiredService<ProcessRestart>();
            app.Lifetime.ApplicationStarted.Register(StartPages.ReleasePages);
            try
            {
                await app.RunAsync(asked);
            }
            catch (Exception e) when (asked.IsCancellationRequested || e is StartRefusedException or SocketException or StorageException or IOException { InnerException: AddressInUseException })
            {
                // A busy port, the folder or a signal does not mean that the settings are wrong.
                trial.Withdraw();
                throw;
            }
            catch (Exception)
            {
                trial.Accuse();
                throw;
            }

            return asked.IsCancellationRequested ? 0
                : restart.IsRequested ? null
                : await EndAsync(StartRefusedException.AssertionFailed, "stopped without having been asked to; the log says why");
        }
        catch (Exception) when (asked.IsCancellationRequested)
        {
            // Startup was canceled, or the shutdown timed out.
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
        catch (Exception e) when (StorageException.From(e, ProcessOptions.Read(environment).ConfigPath) is { } fault)
        {
            var advice = fault.Fault is StorageFault.Denied
                ? PosixCalls.AdviseOnOwner(ProcessOptions.Read(environment).ConfigPath, fault.Path, environment.StartedAsRoot)
                : "";
            return await EndAsync(StartRefusedException.BadConfiguration, fault.Message + advice);
        }
        catch (Exception e)
        {
            return await EndAsync(StartRefusedException.AssertionFailed, $"start failed: {e.GetType().Name}: {e.Message}");
        }
    }

    private static async Task<int> EndAsync(int code, string sentence)
    {
        await Console.Error.WriteLineAsync($"sluice: {sentence.ReplaceLineEndings(" ")}");
        return code;
    }
}
