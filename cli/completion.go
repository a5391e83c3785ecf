package cli

import "github.com/spf13/cobra"

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Print a completion script. It completes commands, flags, and the ids of runs,
operations and items, which it asks the gate for.

  bash        source <(tollgate completion bash)
  zsh         tollgate completion zsh > "${fpath[1]}/_tollgate"
  fish        tollgate completion fish | source
  powershell  tollgate completion powershell | Out-String | Invoke-Expression`,
		GroupID:           groupProgram,
		Args:              oneOf("SHELL", shells...),
		ValidArgs:         shells,
		ValidArgsFunction: nil,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
		},
	}
}
